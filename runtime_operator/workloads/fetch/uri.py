"""The address of a dataset or a model, in parts; the same rules for every scheme.

    scheme://host/path@revision?query      the revision only where the scheme has one

`text` is what a person may see: without password, query and fragment. A source that needs those takes
`password` and `query` and hides them by itself being given them: `parse_uri` has hidden both already.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from ...errors import SpecError
from .hidden import Secrets, shown

_LONG = 12
"""a value of a query that is this long may be a signature; shorter ones are words such as `true`"""
_HOSTS = ("http", "https", "git+http", "git+https", "oci")
"""schemes whose host may have a port"""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


@dataclass(frozen=True, slots=True)
class Uri:
    """One address."""

    scheme: str
    host: str
    """what stands between `//` and the next `/`, without user and password: a bucket, an org, host:port"""
    path: str
    """what follows, without the first `/`, as it was written (percent signs included)"""
    text: str
    """the address as it may be shown"""
    query: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)
    raw: str = field(default="", repr=False, compare=False)
    """the address as it was given; may hold secrets"""


def parse_uri(text: str, secrets: Secrets) -> Uri:
    """Take an address apart; SpecError where it is none."""
    given = text.strip()
    scheme, found, rest = given.partition("://")
    scheme = scheme.lower()
    if not found or not _SCHEME.fullmatch(scheme) or not rest:
        raise SpecError(
            f"{_openly(given) or 'the address'}: is not an address, give SCHEME://PLACE, as in hf://org/name"
        )
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if scheme in _HOSTS and parts.port == 0:
            raise ValueError("no port")  # as one beyond all ports
    except ValueError:
        raise SpecError(f"{scheme}://: is not an address, mind the brackets and the port") from None
    signed = [value for _, value in parse_qsl(parts.query) if len(value) >= _LONG]
    for secret in (password, parts.query, parts.password or "", *signed):
        secrets.hide(secret)
    if scheme in ("http", "https", "git+http", "git+https") and user and not password:
        secrets.hide(user)  # https://TOKEN@host/
    host = parts.netloc.rpartition("@")[2]
    return Uri(
        scheme=scheme,
        host=host,
        path=parts.path.removeprefix("/") if host or scheme == "file" else parts.path,
        text=shown(given),
        query=parts.query,
        user=user,
        password=password,
        raw=given,
    )


def _openly(given: str) -> str:
    """What may be shown of what is no address, and may hold a password all the same."""
    return shown(given) if "://" in given else given.partition("?")[0].rpartition("@")[2]
