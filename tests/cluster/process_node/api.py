"""A client of the API server for the parts of a node: requests, and lists that are kept as they change."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp

from ..control_plane.addresses import API_PORT, NODE

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
NOT_FOUND, CONFLICT = 404, 409
LIMIT = aiohttp.ClientTimeout(total=15)
WATCH_SECONDS = 240
PAUSE_SECONDS = 0.5


class Refused(Exception):
    """The API server refused; `code` is HTTP's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


UNREACHABLE = (aiohttp.ClientError, TimeoutError, OSError)
TROUBLE = (Refused, *UNREACHABLE)
"""what passes when it is tried again later"""


class Api:
    """JSON in, JSON out, as the one whose certificate this is."""

    def __init__(self, pki: Path, identity: str) -> None:
        tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        tls.load_cert_chain(pki / f"{identity}.crt", pki / f"{identity}.key")
        self._session = aiohttp.ClientSession(
            f"https://{NODE}:{API_PORT}", connector=aiohttp.TCPConnector(ssl=tls), timeout=LIMIT
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

    async def watch(self, path: str, version: str) -> AsyncIterator[Json]:
        """The events of a list since a version, until the API server ends it."""
        joint = "&" if "?" in path else "?"
        asked = f"watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={version}"
        limit = aiohttp.ClientTimeout(total=None, sock_read=WATCH_SECONDS + 15)
        async with self._session.get(f"{path}{joint}{asked}", timeout=limit) as answer:
            if answer.status >= 300:
                raise Refused(answer.status, await answer.text())
            rest = b""
            async for data in answer.content.iter_any():
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    yield json.loads(line)


class Kept:
    """The objects of a list, by uid, as the API server changes them."""

    def __init__(self, api: Api, path: str, changed: Callable[[], None]) -> None:
        self._api, self._path, self._changed = api, path, changed
        self.by_uid: dict[str, Json] = {}
        self.complete = asyncio.Event()
        """set once the list was read"""

    async def run(self) -> None:
        """List and watch, again and again; what is known stays while the API server is away."""
        while True:
            try:
                await self._round()
            except TROUBLE as problem:
                print(f"{self._path}: {problem}", flush=True)
                await asyncio.sleep(PAUSE_SECONDS)

    async def _round(self) -> None:
        listed = await self._api.ask("GET", self._path)
        self.by_uid = {each["metadata"]["uid"]: each for each in listed["items"]}
        self.complete.set()
        self._changed()
        version = listed["metadata"]["resourceVersion"]
        while True:
            async for event in self._api.watch(self._path, version):
                kind, changed = event["type"], event["object"]
                if kind == "ERROR":
                    return  # most often the version is too old: the next round lists anew
                version = changed["metadata"]["resourceVersion"]
                if kind == "BOOKMARK":
                    continue
                if kind == "DELETED":
                    self.by_uid.pop(changed["metadata"]["uid"], None)
                else:
                    self.by_uid[changed["metadata"]["uid"]] = changed
                self._changed()
