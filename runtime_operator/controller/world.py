"""What exists beside a job, as far as a pass needs it: its own objects, and what its gang is reckoned from.

Of what we deleted nothing is shown any more, even while the watch has not told. A JobSet that ended and is
gone is shown as it was, until its job's end is written. What Trainer 2.3 made is shown as if it were ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ..api.names import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME
from ..kube.cache import Cached, Key
from ..kube.errors import Forbidden
from ..kube.resource import EVENTS
from ..kube.transport import Transport
from ..render.dry_run import Runtime, read_runtime
from ..render.plan import Object
from . import traces
from .caches import Caches
from .from_trainer import FromTrainer
from .memory import Memory
from .ownership import is_owned
from .refusals import Refusal

Existing = dict[tuple[str, str], Object]


class World:
    """Reads the caches for one job at a time."""

    def __init__(self, transport: Transport, caches: Caches) -> None:
        self._transport, self._caches = transport, caches
        self._from_trainer = FromTrainer(transport, caches)
        self._runtimes: dict[tuple[str, str], tuple[str, Runtime]] = {}

    async def existing(self, key: Key, job: Object, memory: Memory) -> Existing:
        """The objects of the job, or of a namesake in their place."""
        found = {
            (each["kind"], each["metadata"]["name"]): each
            for each in self._near(key)
            if each["metadata"]["uid"] not in memory.deleted
        }
        jobset = found.get(("JobSet", key[1]))
        if jobset is None and (ended := await self._ended(key, job, memory)) is not None:
            found["JobSet", key[1]] = ended
        for each in await self._from_trainer.beside(key, job, found, memory):
            found[each["kind"], each["metadata"]["name"]] = each
        return found

    async def keeps(self, wanted: Object, job: Object, existing: Existing, memory: Memory) -> bool:
        """Whether something stands that is not ours to write, although no cache holds it."""
        return await self._from_trainer.keeps(wanted, job, existing, memory)

    def runtime(self, job: Object) -> Runtime | None:
        """The runtime that a job names, if it is known."""
        reference = job["spec"]["runtimeRef"]
        kind = reference.get("kind", CLUSTER_TRAINING_RUNTIME)
        namespace = job["metadata"]["namespace"] if kind == TRAINING_RUNTIME else ""
        informer = self._caches.runtimes.get(kind)
        cached = None if informer is None else informer.get((namespace, reference["name"]))
        return None if cached is None else self._parsed(kind, cached)

    def refusals(self, key: Key) -> list[Refusal]:
        """What the API server said no to, of this job's pods."""
        return [
            each.value
            for informer in self._caches.refusals
            for each in informer.by_index("job", "/".join(key))
        ]

    def queued(self, key: Key, job: Object) -> str | None:
        """What Kueue says of a job that it has not admitted."""
        if self._caches.queue is None:
            return None
        found = self._caches.queue.by_index("job", "/".join(key))
        own = [each.value for each in found if each.head.owner_uid == job["metadata"]["uid"]]
        return next(filter(None, own), None)

    def _parsed(self, kind: str, cached: Cached) -> Runtime:
        """Parse each version of a runtime once: thousands of jobs name the same."""
        place = (kind, "/".join(cached.head.key))
        version, runtime = self._runtimes.get(place, ("", None))
        if runtime is None or version != cached.head.resource_version:
            runtime = read_runtime(cached.document())
            self._runtimes[place] = (cached.head.resource_version, runtime)
        return runtime

    def _near(self, key: Key) -> Iterator[Object]:
        caches = self._caches
        for informer in (caches.jobsets, *caches.others.values()):
            cached = informer.get(key)
            if cached is not None:
                yield cached.document()
        for cached in caches.config_maps.by_index("job", "/".join(key)):
            yield cached.document()
        for (namespace, _), cached in (*caches.runtime_classes.items(), *caches.limit_ranges.items()):
            if namespace in ("", key[0]):
                yield cached.document()

    async def _ended(self, key: Key, job: Object, memory: Memory) -> Object | None:
        """The JobSet as it was at its end: as we saw it, else as events tell, which are asked for once."""
        gone = self._caches.ended_jobsets.get(key)
        if gone is not None and is_owned(gone, job):
            return gone
        if memory.looked_for_traces or not traces.had_jobset(job):
            return None
        ended = traces.ended_jobset(job, await self._told_of(key))
        memory.looked_for_traces = True
        if ended is not None:
            self._caches.ended_jobsets[key] = ended
        return ended

    async def _told_of(self, key: Key) -> list[Object]:
        """The events about a JobSet; none where they may not be read."""
        pages = self._transport.list(EVENTS, namespace=key[0], fields=traces.events_of(key[1]))
        try:
            return [orjson.loads(raw) async for page in pages for raw in page.items]
        except Forbidden:
            return []
