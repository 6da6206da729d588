"""The controller as a whole: caches, a queue of TrainJobs, and workers that make passes over them.

Two things run. `watch` keeps the caches and runs in every replica, for admission asks them too. `lead` works
through the queue and runs only in the replica that leads. Whoever starts to lead looks at every job once;
from then on each piece of news wakes the job it is about.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from ..errors import Retryable
from ..kube.cache import Key
from ..kube.errors import ApiError
from ..kube.informer import Informer
from ..kube.queue import WorkQueue
from ..kube.transport import Transport
from ..render.plan import Object
from .caches import Caches
from .decisions import Recorder
from .metrics import Metrics
from .passes import Pass, Surroundings
from .patience import PatientRecorder
from .reconcile import Reconciler, utc_now
from .settings import ControllerSettings

LOG = logging.getLogger(__name__)

TROUBLE_AGAIN_AFTER = 3.0  # seconds, at the latest, where the API server is in trouble and not the job


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
        self._queue: WorkQueue[Key] = WorkQueue()
        self._is_leading = False
        self._recorder = PatientRecorder(recorder, is_busy=lambda: len(self._queue) > 0)
        self._reconcile = Reconciler(
            Surroundings(
                transport=transport,
                caches=self.caches,
                settings=settings,
                metrics=metrics,
                recorder=self._recorder,
                certificate=certificate,
                clock=asyncio.get_running_loop().time,
                now=now,
            )
        )

    async def watch(self) -> None:
        """Keep the caches up to date until cancelled."""
        await self.caches.run()

    async def synced(self) -> None:
        """Wait until the caches know all there is: from then on admission can be answered."""
        await self.caches.synced()

    async def lead(self) -> None:
        """Act on TrainJobs until cancelled; the caches are kept by `watch` meanwhile."""
        await self.caches.synced()
        self._is_leading = True
        self.metrics.leads.set(1)
        for key, _ in self.caches.jobs.items():
            self._queue.add(key)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self.settings.workers):
                    group.create_task(self._work(), name=f"worker {number}")
        finally:
            self._is_leading = False
            self.metrics.leads.set(0)

    @property
    def informers(self) -> tuple[Informer, ...]:
        """Every informer that runs: their `last_progress` and `trouble` tell of their health."""
        return (*self.caches.required, *self.caches.optional, *self.caches.found)

    def silent(self, limit: float) -> list[str]:
        """The kinds without which nothing is decided and of which nothing was heard for so many seconds."""
        now = asyncio.get_running_loop().time()
        return [str(each.resource) for each in self.caches.required if now - each.last_progress > limit]

    def measure(self) -> None:
        """Bring the gauges up to date; for whoever serves the metrics, before it does."""
        now = asyncio.get_running_loop().time()
        self.metrics.queue.set(len(self._queue))
        self.metrics.jobs.set(len(self.caches.jobs))
        for each in self.informers:
            self.metrics.silent.labels(each.resource.kind).set(now - each.last_progress)

    def _wake(self, key: Key) -> None:
        if self._is_leading:
            self._queue.add(key)

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            try:
                await self._pass(key)
            finally:
                self._queue.done(key)
            self._recorder.tell()

    async def _pass(self, key: Key) -> None:
        """Make one pass and put the job back for when it is due; a mistake of ours costs one job, not all."""
        task = asyncio.create_task(self._reconcile(key))
        with self.metrics.seconds.time():
            try:
                await asyncio.wait((task,))
            finally:
                task.cancel()
        mistake = task.exception()
        if isinstance(mistake, ApiError | Retryable):  # while it looked
            self._again(key, Pass(failed=mistake))
        elif mistake is not None:
            self.metrics.passes.labels("mistake").inc()
            LOG.error("%s: a mistake of this program, please report it", "/".join(key), exc_info=mistake)
            self._queue.retry(key)
        else:
            self._again(key, task.result())

    def _again(self, key: Key, made: Pass) -> None:
        if made.again is not None:
            self._queue.add_after(key, made.again)
        if made.failed is None:
            self._queue.forget(key)
            self.metrics.passes.labels("ok").inc()
            return
        LOG.info("%s: %s, tries again", "/".join(key), made.failed)
        self.metrics.passes.labels("failed").inc()
        after = made.failed.after if isinstance(made.failed, Retryable) else made.failed.retry_after
        self._queue.retry(key, at_least=after)
        if isinstance(made.failed, ApiError) and made.failed.is_retryable:
            self._queue.add_after(key, max(after or 0.0, TROUBLE_AGAIN_AFTER))
