"""Everything this controller writes, and nothing else: children, deletions, the status.

Children are applied by server-side apply under upstream's field manager, so what others own stays theirs. The
answer goes into the cache at once: the next pass sees its own write, whatever the watch does.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import orjson

from ..kube.resource import SECRETS
from ..kube.transport import Propagation, Transport
from ..render.plan import Object
from .applied import fitted, is_as_wanted
from .caches import Caches
from .kinds import MANAGER, TRAIN_JOBS
from .memory import Memory
from .metrics import Metrics
from .secrets import create_secret


class Writer:
    """Writes for one job at a time; what it wrote stands in the job's memory."""

    def __init__(self, transport: Transport, caches: Caches, metrics: Metrics) -> None:
        self._transport, self._caches, self._metrics = transport, caches, metrics

    async def apply(self, wanted: Object, stored: Object | None, job: Object, memory: Memory) -> bool:
        """Bring one child about; whether anything was written."""
        if wanted["kind"] == "Secret":
            await create_secret(self._transport, wanted)
            self._metrics.wrote("create", SECRETS.kind)
            memory.secrets.add(wanted["metadata"]["name"])
            return True
        if stored is not None and is_as_wanted(stored, wanted, job):
            return False
        if stored is not None and wanted["kind"] == "JobSet":
            wanted = fitted(stored, wanted)
        place, body = (wanted["kind"], wanted["metadata"]["name"]), orjson.dumps(wanted, default=list)
        written = blake2b(body, digest_size=16).digest()
        if stored is not None and memory.applied.get(place) == (written, _version(stored)):
            return False  # the API server keeps it in another spelling
        resource = self._caches.resource_of(wanted)
        raw = await self._transport.apply(
            resource, wanted["metadata"]["namespace"], place[1], body, manager=MANAGER
        )
        self._metrics.wrote("apply", resource.kind)
        memory.applied[place] = (written, self._caches.wrote(resource, raw))
        return True

    async def delete(self, doomed: Object, job: Object, *, propagation: Propagation = "Background") -> None:
        """Delete an object, and no other that has its name since."""
        resource = TRAIN_JOBS if doomed is job else self._caches.resource_of(doomed)
        metadata = doomed["metadata"]
        await self._transport.delete(
            resource, metadata["namespace"], metadata["name"], uid=metadata["uid"], propagation=propagation
        )
        self._metrics.wrote("delete", resource.kind)

    async def status(self, job: Object, change: Mapping[str, Any]) -> None:
        """Write these fields of the status, if the job is still the one that was looked at."""
        metadata = job["metadata"]
        seen = {"resourceVersion": metadata["resourceVersion"], "uid": metadata["uid"]}
        raw = await self._transport.patch(
            TRAIN_JOBS,
            metadata["namespace"],
            metadata["name"],
            orjson.dumps({"metadata": seen, "status": change}),
            manager=MANAGER,
            sub="status",
        )
        self._metrics.wrote("status", TRAIN_JOBS.kind)
        self._caches.jobs.wrote(raw)


def _version(stored: Object) -> str:
    return str(stored["metadata"].get("resourceVersion", ""))
