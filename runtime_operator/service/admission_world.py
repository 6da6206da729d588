"""What admission looks up, from the controller's caches: an answer costs no request as a rule.

A runtime that was created a moment ago may not be known yet, so one that is missing is asked for once.
Priority classes are kept for admission alone: a gang whose class is not there is refused when it is created.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import orjson

from ..api.names import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME
from ..controller.caches import Caches
from ..controller.memory import Memory
from ..controller.world import World
from ..kube.cache import Json
from ..kube.errors import NotFound
from ..kube.informer import Informer
from ..kube.resource import PRIORITY_CLASSES
from ..kube.transport import Transport
from ..render.dry_run import Runtime, read_runtime
from ..render.facts import Facts
from ..render.plan import Object


class AdmissionWorld:
    """The controller's view of the cluster, as admission asks for it."""

    def __init__(
        self,
        transport: Transport,
        caches: Caches,
        facts: Facts,
        certificate: Callable[[], Object | None],
    ) -> None:
        self._transport, self._caches = transport, caches
        self._facts, self._certificate = facts, certificate
        self._world = World(transport, caches)
        self.priority_classes = Informer(transport, PRIORITY_CLASSES, lambda key, old, new: None)

    async def runtime(self, job: Json) -> Runtime | None:
        """The runtime that a job names, asked for if it is not known yet."""
        found = self._world.runtime(job)
        reference = job["spec"]["runtimeRef"]
        informer = self._caches.runtimes.get(reference.get("kind", CLUSTER_TRAINING_RUNTIME))
        if found is not None or informer is None:
            return found
        namespace = job["metadata"]["namespace"] if informer.resource.namespaced else ""
        try:
            raw = await self._transport.get(informer.resource, namespace, reference["name"])
        except NotFound:
            return None
        return read_runtime(orjson.loads(raw))

    async def facts(self, job: Json) -> Facts:
        """What exists beside a job, and what trainers are told of the installation."""
        metadata = job["metadata"]
        key = (metadata["namespace"], metadata["name"])
        existing = await self._world.existing(key, job, Memory(metadata.get("uid", "")))
        for (_, name), cached in self.priority_classes.items():
            existing["PriorityClass", name] = cached.document()
        if (certificate := self._certificate()) is not None:
            existing["Secret", self._facts.certificate] = certificate
        known = frozenset({"PriorityClass"}) if self.priority_classes.synced.is_set() else frozenset()
        return replace(self._facts, existing=existing, looked_up=known)

    def runtimes(self, namespace: str) -> list[Json]:
        """The runtimes that a job of this namespace may name."""
        informers = (self._caches.runtimes[TRAINING_RUNTIME], self._caches.runtimes[CLUSTER_TRAINING_RUNTIME])
        return [
            cached.document()
            for informer in informers
            for (place, _), cached in informer.items()
            if place in ("", namespace)
        ]
