"""A collection of the API server, kept in memory and up to date, whatever happens to the connection.

It lists, and watches from the list's version on. A watch that ends is taken up where it was; one that is
too old (410) leads to another list, whose difference to what was known is told, deletions too. Every few
minutes a list beside the watch repairs what no event told. Nothing here gives up: each failure waits, at most
two seconds, or what the server asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterator, Mapping
from typing import TypedDict

import orjson

from .backoff import Backoff, Chance
from .cache import Cached, Json, Key, is_older
from .errors import ApiError, Gone, ServerTrouble, Silence, error_of_status
from .resource import Resource
from .store import Condense, Index, OnChange, Store
from .transport import Transport

LOG = logging.getLogger(__name__)

RESYNC_EVERY = 300.0
WATCH_FOR = 290.0
LONGEST_WAIT = 2.0  # so that a server which is back is heard within five seconds, lists and all


class _Selection(TypedDict):
    namespace: str
    labels: str
    fields: str


class Informer:
    """One collection; `run` keeps it, everything else reads it."""

    def __init__(
        self,
        transport: Transport,
        resource: Resource,
        on_change: OnChange,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        condense: Condense | None = None,
        indices: Mapping[str, Index] | None = None,
        keeps_managers: bool = False,
        resync_every: float = RESYNC_EVERY,
        chance: Chance = random.random,
    ) -> None:
        self.resource = resource
        self.synced = asyncio.Event()
        self.last_progress = asyncio.get_running_loop().time()
        """when the API server last showed that it serves us: a list, an event, a bookmark"""
        self.trouble = ""
        """why there is no progress now"""
        self.lists = self.watches = self.events = 0
        self._transport = transport
        self._select: _Selection = {"namespace": namespace, "labels": labels, "fields": fields}
        self._store = Store(on_change, condense=condense, indices=indices, keeps_managers=keeps_managers)
        self._resync_every, self._chance = resync_every, chance
        self._version = ""
        self._must_list = True

    def __len__(self) -> int:
        return len(self._store)

    def get(self, key: Key) -> Cached | None:
        """Return an object, if it is known."""
        return self._store.get(key)

    def items(self) -> Iterator[tuple[Key, Cached]]:
        """Every object that is known."""
        return self._store.items()

    def by_index(self, name: str, value: str) -> list[Cached]:
        """Return the objects that an index finds under a value."""
        return self._store.by_index(name, value)

    def wrote(self, raw: bytes) -> Cached:
        """Take in what the server answered to our own write, before its event comes; it is told to nobody."""
        return self._store.put(raw, is_ours=True)

    async def run(self) -> None:
        """Keep the collection until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_forever())
            group.create_task(self._resync_forever())

    async def _follow_forever(self) -> None:
        waits = Backoff(cap=LONGEST_WAIT, chance=self._chance)
        of_gone = Backoff(cap=LONGEST_WAIT, chance=self._chance)
        while True:
            try:
                if self._must_list:
                    await self._list()
                if await self._watch():
                    waits.reset()
                    of_gone.reset()
                else:
                    await asyncio.sleep(waits.next())
            except Gone as gone:
                LOG.info("%s: lists again: %s", self.resource, gone)
                self._must_list = True
                waits.reset()  # a server that says so is back
                await asyncio.sleep(of_gone.next(gone.retry_after))
            except Silence:  # of a quiet kind no bookmarks come, so it is no trouble to begin anew
                await asyncio.sleep(waits.next())
            except ApiError as error:
                self._say(error)
                await asyncio.sleep(waits.next(error.retry_after))

    async def _resync_forever(self) -> None:
        await self.synced.wait()
        while True:
            await asyncio.sleep(self._resync_every * (0.9 + 0.2 * self._chance()))
            try:
                await self._list()
            except (
                ApiError
            ) as error:  # the watch beside this tells when it is back; the next list comes anyway
                self._say(error)

    def _say(self, error: ApiError) -> None:
        if str(error) != self.trouble:
            LOG.warning("%s: %s", self.resource, error)
        self.trouble = str(error)

    async def _list(self) -> None:
        """Take in all there is; deletions are found by what is missing."""
        self.lists += 1
        known, version = self._version, ""
        seen: set[Key] = set()
        async with contextlib.aclosing(self._transport.list(self.resource, **self._select)) as pages:
            async for page in pages:
                version = page.resource_version
                if is_older(version, known):
                    raise ServerTrouble(0, "Stale", f"a list of version {version} came after version {known}")
                seen.update(self._store.put(raw).head.key for raw in page.items)
                await asyncio.sleep(0)  # a page takes milliseconds: let others work
        self._store.keep_only(seen, version)
        self._advance(version)
        self._must_list = False
        self.synced.set()

    async def _watch(self) -> bool:
        """Take in events until the server ends the watch; whether any came."""
        self.watches += 1
        told = False
        lines = self._transport.watch(
            self.resource,
            **self._select,
            resource_version=self._version,
            timeout=WATCH_FOR * (0.8 + 0.2 * self._chance()),
        )
        async with contextlib.aclosing(lines):
            async for line in lines:
                self._take(line)
                told = True
        return told

    def _take(self, line: bytes) -> None:
        """Take in one event."""
        event = orjson.loads(line)
        kind, document = event["type"], event["object"]
        if kind == "ERROR":
            raise error_of_status(document)
        metadata = document["metadata"]
        if kind == "DELETED":
            self.events += 1
            key = (metadata.get("namespace", ""), metadata["name"])
            self._store.remove(key, metadata["uid"], metadata["resourceVersion"])
        elif kind != "BOOKMARK":
            self.events += 1
            self._store.put(_object_of(line, kind, document), document)
        self._advance(metadata["resourceVersion"])

    def _advance(self, version: str) -> None:
        """Remember how far the news went; they may be told twice or in another order."""
        if not is_older(version, self._version):
            self._version = version
        self.last_progress = asyncio.get_running_loop().time()
        self.trouble = ""


def _object_of(line: bytes, kind: str, document: Json) -> bytes:
    """Cut an event's object out of its line, which costs nothing if it is written as API servers write it."""
    head = b'{"type":"%s","object":' % kind.encode()
    if line.startswith(head) and line.endswith(b"}}"):
        return line[len(head) : -1]
    return orjson.dumps(document)
