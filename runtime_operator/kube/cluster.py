"""Where an API server is, and how to show it who asks."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Protocol

Headers = tuple[tuple[str, str], ...]
"""names and values; a name may stand more than once"""


class Identity(Protocol):
    """Who asks, as headers of a request."""

    async def headers(self) -> Headers:
        """Return the headers that say who asks, renewed where that is needed."""
        ...

    def refused(self) -> None:
        """Learn that the API server did not know them: the next headers are made anew."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server and who we are to it."""

    server: str
    """its URL, without a slash at the end"""
    tls: ssl.SSLContext
    identity: Identity
    namespace: str = "default"
    """where namespaced things go if nobody says otherwise"""
    server_hostname: str = ""
    """the name in its certificate, where that is not the URL's"""
    proxy: str = ""
    """the URL of an HTTP proxy on the way to it"""
