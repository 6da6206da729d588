"""The transport over HTTP: one session for requests, one for streams, and patience with a server in trouble.

A request is sent again a few times when the server is away, overloaded or in trouble, unless that could do
something twice. `Retry-After` is obeyed where it is short, and handed to the caller where it is long. A watch
that says nothing for 75 s is dead, for bookmarks come every minute.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
from yarl import URL

from .backoff import Backoff, Chance
from .cluster import Cluster
from .errors import ApiError, Silence, Unauthorized, error_of_answer
from .lines import LineSplitter
from .patience import BROKEN, FIRST_WAIT, TRIES, WAIT_CAP, may_try_again, unreachable
from .resource import PODS, Resource
from .transport import APPLY_PATCH, JSON, MERGE_PATCH, Page, Propagation

CONNECTIONS = 96  # more than there are workers, so that a renewed lease waits for none of them
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 40.0  # two webhooks of ten seconds each, and a busy server
SILENCE_SECONDS = 75.0
HEADERS = {"Accept": JSON, "Accept-Encoding": "identity", "User-Agent": "kfp-trainer"}


class HttpTransport:
    """A Transport to one API server; used as an asynchronous context."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        connections: int = CONNECTIONS,
        answer_seconds: float = ANSWER_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
        chance: Chance = random.random,
    ) -> None:
        self.cluster = cluster
        self._connections, self._chance = connections, chance
        self._answer = aiohttp.ClientTimeout(total=answer_seconds, sock_connect=CONNECT_SECONDS)
        self._stream = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_SECONDS, sock_read=silence_seconds
        )
        self._endless = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        self._options: dict[str, Any] = {"ssl": cluster.tls}
        if cluster.server_hostname:
            self._options["server_hostname"] = cluster.server_hostname
        if cluster.proxy:
            self._options["proxy"] = cluster.proxy
        self._requests: aiohttp.ClientSession
        self._streams: aiohttp.ClientSession

    async def __aenter__(self) -> HttpTransport:
        self._requests, self._streams = _session(self._connections), _session(0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._requests.close()
        await self._streams.close()

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        limit: int = 500,
    ) -> AsyncGenerator[Page, None]:
        """Read a list page by page."""
        path = resource.path(namespace)
        parameters = _selection(labels, fields) | ({"limit": str(limit)} if limit else {})
        if resource_version:
            parameters |= {"resourceVersion": resource_version, "resourceVersionMatch": "NotOlderThan"}
        while True:
            page = orjson.loads(await self.request("GET", path, parameters=parameters))
            metadata = page["metadata"]
            yield Page(
                tuple(_whole(item, resource) for item in page["items"] or ()), metadata["resourceVersion"]
            )
            if not metadata.get("continue"):
                return
            for name in ("resourceVersion", "resourceVersionMatch"):
                parameters.pop(name, None)
            parameters["continue"] = metadata["continue"]

    async def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        timeout: float = 290.0,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the line of each event since a version."""
        parameters = _selection(labels, fields) | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(round(timeout)),
            "resourceVersion": resource_version,
        }
        splitter = LineSplitter()
        async with self._opened(resource.path(namespace), parameters, self._stream) as chunks:
            async for chunk in chunks:
                for line in splitter.feed(chunk):
                    yield line

    async def stream_log(
        self, namespace: str, pod: str, *, parameters: Mapping[str, str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a pod's log, the last one even where it has no end."""
        splitter = LineSplitter()
        async with self._opened(
            PODS.path(namespace, pod, sub="log"), parameters or {}, self._endless
        ) as chunks:
            async for chunk in chunks:
                for line in splitter.feed(chunk):
                    yield line
        if rest := splitter.rest():
            yield rest

    async def get(self, resource: Resource, namespace: str, name: str, *, sub: str = "") -> bytes:
        """Read one object."""
        return await self.request("GET", resource.path(namespace, name, sub=sub))

    async def create(
        self, resource: Resource, namespace: str, body: bytes, *, sub: str = "", name: str = ""
    ) -> bytes:
        """Post a new object; sent again only where the server surely did nothing."""
        return await self.request("POST", resource.path(namespace, name, sub=sub), body=body)

    async def apply(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: bytes,
        *,
        manager: str,
        force: bool = True,
        sub: str = "",
    ) -> bytes:
        """Apply on the server's side."""
        path = resource.path(namespace, name, sub=sub)
        parameters = {"fieldManager": manager} | ({"force": "true"} if force else {})
        return await self.request("PATCH", path, parameters=parameters, body=body, content_type=APPLY_PATCH)

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: bytes, *, manager: str = "", sub: str = ""
    ) -> bytes:
        """Merge a JSON document into an object."""
        path = resource.path(namespace, name, sub=sub)
        parameters = {"fieldManager": manager} if manager else {}
        return await self.request("PATCH", path, parameters=parameters, body=body, content_type=MERGE_PATCH)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        """Delete an object; that there is none is no error."""
        conditions = {"uid": uid, "resourceVersion": resource_version}
        options: dict[str, Any] = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": propagation,
        }
        if set_conditions := {field: text for field, text in conditions.items() if text}:
            options["preconditions"] = set_conditions
        try:
            await self.request("DELETE", resource.path(namespace, name), body=orjson.dumps(options))
        except ApiError as error:
            if error.status != 404:
                raise

    async def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send a request, again if that is safe and may help."""
        waits = Backoff(FIRST_WAIT, WAIT_CAP, self._chance)
        url = self._url(path, parameters)
        while True:
            try:
                return await self._send(method, url, body, content_type)
            except ApiError as error:
                if waits.tries >= TRIES - 1 or not may_try_again(method, error):
                    raise
                if isinstance(error, Unauthorized):
                    self.cluster.identity.refused()
                await asyncio.sleep(waits.next(error.retry_after))

    async def _send(self, method: str, url: URL, body: bytes | None, content_type: str) -> bytes:
        headers = [*await self.cluster.identity.headers(), ("Content-Type", content_type)]
        try:
            async with self._requests.request(
                method, url, data=body, headers=headers, timeout=self._answer, **self._options
            ) as answer:
                told = await answer.read()
        except BROKEN as error:
            raise unreachable(self.cluster.server, error) from error
        if answer.status >= 300:
            raise error_of_answer(answer.status, told, retry_after=answer.headers.get("Retry-After"))
        return told

    @asynccontextmanager
    async def _opened(
        self, path: str, parameters: Mapping[str, str], timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a stream; it is not opened again here, for only the caller knows where it was."""
        headers = await self.cluster.identity.headers()
        is_open = False
        try:
            async with self._streams.get(
                self._url(path, parameters), headers=headers, timeout=timeout, **self._options
            ) as answer:
                if answer.status >= 300:
                    if answer.status == 401:
                        self.cluster.identity.refused()
                    told, after = await answer.read(), answer.headers.get("Retry-After")
                    raise error_of_answer(answer.status, told, retry_after=after)
                is_open = True
                yield answer.content.iter_any()
        except BROKEN as error:
            if is_open and isinstance(error, TimeoutError):
                raise Silence(f"{self.cluster.server}: nothing came on an open stream") from error
            raise unreachable(self.cluster.server, error) from error

    def _url(self, path: str, parameters: Mapping[str, str] | None) -> URL:
        query = _query(tuple(parameters.items())) if parameters else ""
        return URL(f"{self.cluster.server}{path}{query}", encoded=True)


@lru_cache(maxsize=256)
def _query(parameters: tuple[tuple[str, str], ...]) -> str:
    """Encode a query; nearly all requests have one of a few."""
    return f"?{urlencode(parameters)}"


def _session(connections: int) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=connections)
    return aiohttp.ClientSession(
        connector=connector, headers=HEADERS, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=True
    )


def _selection(labels: str, fields: str) -> dict[str, str]:
    chosen = {"labelSelector": labels, "fieldSelector": fields}
    return {name: text for name, text in chosen.items() if text}


def _whole(item: dict[str, Any], resource: Resource) -> bytes:
    """Give an item of a list the apiVersion and kind that lists of built-in kinds leave out."""
    return orjson.dumps({"apiVersion": resource.api_version, "kind": resource.kind, **item})
