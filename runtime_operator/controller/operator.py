"""The controller as a whole: caches, lists of jobs, and workers that make passes over them.

Two things run. `watch` keeps the caches and runs in every replica, for admission asks them too. `lead` works
through the lists and runs only in the replica that leads. Whoever starts to lead looks at every job once;
from then on each piece of news wakes the job it is about. Jobs of older kinds have a list and workers of
their own, so that neither sort waits for a burst of the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from ..kube.cache import Key
from ..kube.informer import Informer
from ..kube.transport import Transport
from ..render.plan import Object
from .caches import Caches
from .decisions import Recorder
from .gang_reminders import GangReminders
from .legacy.caches import OlderCaches
from .legacy.kinds import OlderKey
from .legacy.reconcile import OlderReconciler
from .metrics import Metrics
from .passes import Surroundings
from .patience import PatientRecorder
from .reconcile import Reconciler, utc_now
from .settings import ControllerSettings
from .worklist import Worklist


class Operator:
    """Made inside a running loop; `recorder` brings events to the API server, and its maker runs it."""

    def __init__(
        self,
        transport: Transport,
        *,
        settings: ControllerSettings,
        metrics: Metrics,
        recorder: Recorder,
        certificate: Callable[[], Object | None],
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.settings, self.metrics = settings, metrics
        self.caches = Caches(transport, settings, self._wake)
        self.older = OlderCaches(transport, settings, self.caches, self._wake_older)
        self._recorder = PatientRecorder(recorder, is_busy=lambda: self._waiting > 0)
        around = Surroundings(
            transport=transport,
            caches=self.caches,
            settings=settings,
            metrics=metrics,
            recorder=self._recorder,
            certificate=certificate,
            clock=asyncio.get_running_loop().time,
            now=now,
        )
        self._jobs = Worklist(Reconciler(around), metrics, workers=settings.workers)
        older = OlderReconciler(around, self.older, others_wait=lambda: len(self._older_jobs) > 0)
        self._older_jobs = Worklist(older, metrics, workers=settings.workers)
        self._reminders = GangReminders(transport, metrics, self._informers_of_children, now)

    async def watch(self) -> None:
        """Keep the caches up to date until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.caches.run(), name="caches")
            if self.settings.older_kinds:
                group.create_task(self.older.run(), name="caches of older kinds")

    async def synced(self) -> None:
        """Wait until the caches know all there is: from then on admission can be answered."""
        await self.caches.synced()

    async def lead(self) -> None:
        """Act on jobs until cancelled; the caches are kept by `watch` meanwhile."""
        await self.caches.synced()
        self.metrics.leads.set(1)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._jobs.work(self._known, self._recorder.tell), name="TrainJobs")
                group.create_task(self._reminders.run(), name="reminders of gangs")
                if self.settings.older_kinds:
                    work = self._older_jobs.work(self.older.keys, self._recorder.tell)
                    group.create_task(work, name="older kinds")
        finally:
            self.metrics.leads.set(0)

    def _known(self) -> Iterable[Key]:
        return [key for key, _ in self.caches.jobs.items()]

    def _informers_of_children(self) -> Iterable[Informer]:
        return (*self.caches.others.values(), *self.older.owned.values())

    def _wake(self, key: Key) -> None:
        self._jobs.add(key)

    def _wake_older(self, key: OlderKey) -> None:
        self._older_jobs.add(key)

    @property
    def _waiting(self) -> int:
        return len(self._jobs) + len(self._older_jobs)

    @property
    def informers(self) -> tuple[Informer, ...]:
        """Every informer that runs: their `last_progress` and `trouble` tell of their health."""
        caches = self.caches
        return (*caches.required, *caches.optional, *caches.found, *self.older.found)

    def silent(self, limit: float) -> list[str]:
        """The kinds without which nothing is decided and of which nothing was heard for so many seconds."""
        now = asyncio.get_running_loop().time()
        return [str(each.resource) for each in self.caches.required if now - each.last_progress > limit]

    def measure(self) -> None:
        """Bring the gauges up to date; for whoever serves the metrics, before it does."""
        now = asyncio.get_running_loop().time()
        self.metrics.queue.set(self._waiting)
        self.metrics.jobs.set(len(self.caches.jobs))
        for kind, informer in self.older.kinds.items():
            self.metrics.older_jobs.labels(kind).set(len(informer))
        for each in self.informers:
            self.metrics.silent.labels(each.resource.kind).set(now - each.last_progress)
