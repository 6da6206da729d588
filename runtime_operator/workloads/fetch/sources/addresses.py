"""Where an address leads: asked before a secret is sent there. What cannot be read leads nowhere."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|\[::1\]")
_PORT = re.compile(r":\d+$")

Place = tuple[str, str]
"""scheme and host:port"""


def place_of(url: str) -> Place:
    """The scheme and the host of an address; both empty where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc.rpartition("@")[2]


def joined(base: str, reference: str) -> str:
    """The address that a reference means; empty where it means none."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine."""
    return _LOOPBACK.fullmatch(_PORT.sub("", host)) is not None


def is_private(url: str) -> bool:
    """Whether nobody on the way to an address can read what is sent there."""
    scheme, host = place_of(url)
    return scheme == "https" or (scheme == "http" and is_loopback(host))
