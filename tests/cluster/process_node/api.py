"""The node's client of the API server, which it reaches as its pods do."""

import ssl
from pathlib import Path
from typing import Any

import aiohttp

from .network import API_PORT, GATEWAY

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
NOT_FOUND = 404


class Refused(Exception):
    """The API server refused; `code` is HTTP's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Api:
    """JSON in, JSON out."""

    def __init__(self, pki: Path) -> None:
        tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._session = aiohttp.ClientSession(
            f"https://{GATEWAY}:{API_PORT}", connector=aiohttp.TCPConnector(ssl=tls)
        )

    async def ask(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> Json:
        """One request; Refused if the answer is a refusal."""
        headers = {"Content-Type": kind}
        async with self._session.request(method, path, json=body, headers=headers) as answer:
            if answer.status >= 300:
                raise Refused(answer.status, await answer.text())
            found: Json = await answer.json()
            return found

    async def find(self, path: str) -> Json | None:
        """An object, or None if there is no such."""
        try:
            return await self.ask("GET", path)
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return None
            raise
