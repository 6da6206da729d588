"""Keys that wait for a pass, and the workers that make them; a mistake of ours costs one job, not all.

One kind of reconciler has one list. What a pass tells of itself decides when its key comes again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from ..errors import Retryable
from ..kube.errors import ApiError
from ..kube.queue import WorkQueue
from .metrics import Metrics
from .passes import Pass

LOG = logging.getLogger(__name__)

TROUBLE_AGAIN_AFTER = 3.0  # seconds, at the latest, where the API server is in trouble and not the job

Key = TypeVar("Key", bound=tuple[str, ...])


class Worklist(Generic[Key]):
    """Made inside a running loop; nothing is taken in before `work` begins."""

    def __init__(
        self, reconcile: Callable[[Key], Coroutine[Any, Any, Pass]], metrics: Metrics, *, workers: int
    ) -> None:
        self._reconcile, self._metrics, self._workers = reconcile, metrics, workers
        self._queue: WorkQueue[Key] = WorkQueue()
        self._is_open = False

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, key: Key) -> None:
        """Have a look at a job, if this process acts on jobs."""
        if self._is_open:
            self._queue.add(key)

    async def work(self, keys: Callable[[], Iterable[Key]], after_each: Callable[[], None]) -> None:
        """Look at all these once, and then at what is added, until cancelled."""
        self._is_open = True
        for key in keys():
            self._queue.add(key)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._workers):
                    group.create_task(self._work(after_each), name=f"worker {number}")
        finally:
            self._is_open = False

    async def _work(self, after_each: Callable[[], None]) -> None:
        while True:
            key = await self._queue.get()
            try:
                await self._pass(key)
            finally:
                self._queue.done(key)
            after_each()

    async def _pass(self, key: Key) -> None:
        """Make one pass and put the job back for when it is due."""
        task = asyncio.create_task(self._reconcile(key))
        with self._metrics.seconds.time():
            try:
                await asyncio.wait((task,))
            finally:
                task.cancel()
        mistake = task.exception()
        if isinstance(mistake, ApiError | Retryable):  # while it looked
            self._again(key, Pass(failed=mistake))
        elif mistake is not None:
            self._metrics.passes.labels("mistake").inc()
            LOG.error("%s: a mistake of this program, please report it", "/".join(key), exc_info=mistake)
            self._queue.retry(key)
        else:
            self._again(key, task.result())

    def _again(self, key: Key, made: Pass) -> None:
        if made.again is not None:
            self._queue.add_after(key, made.again)
        if made.failed is None:
            self._queue.forget(key)
            self._metrics.passes.labels("ok").inc()
            return
        LOG.info("%s: %s, tries again", "/".join(key), made.failed)
        self._metrics.passes.labels("failed").inc()
        after = made.failed.after if isinstance(made.failed, Retryable) else made.failed.retry_after
        self._queue.retry(key, at_least=after)
        if isinstance(made.failed, ApiError) and made.failed.is_retryable:
            self._queue.add_after(key, max(after or 0.0, TROUBLE_AGAIN_AFTER))
