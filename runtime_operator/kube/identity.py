"""Who we are to an API server, where that never changes; and as whom somebody acts who may act as others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .cluster import Headers


class Fixed:
    """The same headers for ever; none for who shows a certificate."""

    def __init__(self, headers: Headers = ()) -> None:
        self._headers = headers

    async def headers(self) -> Headers:
        """Return them."""
        return self._headers

    def refused(self) -> None:
        """There is nothing else to say."""


def bearer(token: str) -> Headers:
    """Return the header of a token."""
    return (("Authorization", f"Bearer {token}"),)


def impersonation(user: Mapping[str, Any]) -> Headers:
    """Return the headers of a kubeconfig's `as` fields."""
    given = [("User", user.get("as")), ("Uid", user.get("as-uid"))]
    given += [("Group", group) for group in user.get("as-groups") or ()]
    for name, values in (user.get("as-user-extra") or {}).items():
        given += [(f"Extra-{quote(name, safe='')}", value) for value in values]
    return tuple((f"Impersonate-{name}", text) for name, text in given if text)
