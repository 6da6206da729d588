"""An address as a request needs it: where to connect, what to name there, which secrets may go along."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, unquote, urlsplit

from .connections import Place

_USUAL = re.compile(r"(https?)://([A-Za-z0-9._-]+(?::[0-9]{1,4})?)(/[!\"$-~]*)")
"""an address without user and fragment, written in ASCII: what a request names stands in it as it is"""
_PLAIN = re.compile(r"[!-~]+")
_AS_IT_IS = "!#$%&'()*+,/:;=?@[]~"
_SECRET = ("authorization", "cookie", "x-amz-security-token", "private-token")


def place_and_target(url: str) -> tuple[Place, str, dict[str, str]]:
    """Where an address leads, what is asked for there, the headers that its user and password are.

    ValueError where it is no address.
    """
    if (found := _USUAL.fullmatch(url)) is not None:
        scheme, host, target = found.groups()
        return (scheme, host), target, {}
    parts = urlsplit(url)
    if parts.port == 0:
        raise ValueError("no port")  # as one beyond all ports
    return origin(url), _target(parts), _authorization(parts)


def host_of(place: Place) -> str:
    """The place as its Host header has it: without the usual port, in ASCII."""
    scheme, host = place
    host = host.removesuffix(":443" if scheme == "https" else ":80")
    return host if host.isascii() else host.encode("idna").decode("ascii")


def origin(url: str) -> Place:
    """Where an address leads, without user and password."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2]


def without_authorization(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that another host may see too."""
    return {name: value for name, value in headers.items() if name.lower() not in _SECRET}


def _target(parts: SplitResult) -> str:
    """Path and query, with percent signs where an address has none."""
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return target if _PLAIN.fullmatch(target) else quote(target, safe=_AS_IT_IS)


def _authorization(parts: SplitResult) -> dict[str, str]:
    """The user and password of an address as a header."""
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
