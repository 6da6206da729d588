"""What happens to a job in a cluster until it ends: its lines, its events, its progress.

Three collections are kept up to date, each by itself across dropped watches and an API server that is away:
the job, its pods, the events of its namespace. Each container that counts has a reader of its log. The end
is told when the job has ended and the readers have come to theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from ...api.names import JOBSET_LABEL, SUSPENDED
from ...conditions import is_finished, is_true
from ...errors import JobFailed
from ...kube.backoff import Backoff
from ...kube.cache import Cached, Json, Key
from ...kube.errors import ApiError
from ...kube.informer import Informer
from ...kube.resource import EVENTS, PODS
from ...kube.transport import Transport
from ..protocol import News, Waiting, Whose
from ..views import progress_view
from .kinds import TRAIN_JOBS
from .logs import LogReader
from .views import containers_of, event_view, is_about, is_wanted, job_view

ENDED = ("Succeeded", "Failed")
LAST_LINES_WITHIN = 10.0
"""seconds that readers get for the rest of their logs once the job has ended"""


class Follower:
    """Follows one job; `news` yields what happens."""

    def __init__(
        self, transport: Transport, namespace: str, name: str, *, whose: Whose, tail: int | None
    ) -> None:
        self._transport, self._namespace, self._name = transport, namespace, name
        self._whose, self._tail = whose, tail
        self._news: asyncio.Queue[News | None] = asyncio.Queue()
        self._changed = asyncio.Event()
        only, pods = f"metadata.name={name}", f"{JOBSET_LABEL}={name}"
        self._jobs = Informer(transport, TRAIN_JOBS, self._on_change, namespace=namespace, fields=only)
        self._pods = Informer(transport, PODS, self._on_change, namespace=namespace, labels=pods)
        self._events = Informer(transport, EVENTS, self._on_event, namespace=namespace)
        self._readers: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._told: dict[Key, tuple[str, int]] = {}
        self._progress: Json | None = None
        self._waits_for = ""

    async def news(self, *, seconds: float | None) -> AsyncGenerator[News, None]:
        """Yield what happens until the job has ended, rests or is gone, or the time is over."""
        informers = (self._jobs, self._pods, self._events)
        looking = asyncio.create_task(self._look_until_over())
        working = [looking, *(asyncio.create_task(each.run()) for each in informers)]
        try:
            async with asyncio.timeout(seconds):
                while (item := await self._news.get()) is not None:
                    yield item
                await looking
        except TimeoutError:
            return
        finally:
            tasks = (*working, *self._readers.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_until_over(self) -> None:
        """Bring what is new as it comes; whatever ends this ends the news."""
        try:
            await asyncio.gather(self._jobs.synced.wait(), self._pods.synced.wait())
            while not self._is_over():
                self._changed.clear()
                self._look()
                await self._changed.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_LINES_WITHIN):
                    await self._list_pods()
                    self._look()
                    await asyncio.gather(*self._readers.values())
        finally:
            self._news.put_nowait(None)

    async def _list_pods(self) -> None:
        """Know every pod there is: the news of the job's end may have come before that of its pods."""
        waits = Backoff()
        while True:
            try:
                labels = f"{JOBSET_LABEL}={self._name}"
                pages = self._transport.list(PODS, namespace=self._namespace, labels=labels)
                async with aclosing(pages):
                    async for page in pages:
                        for raw in page.items:
                            self._pods.wrote(raw)
                return
            except ApiError as error:
                if not error.is_retryable:
                    raise
                await asyncio.sleep(waits.next(error.retry_after))

    def _is_over(self) -> bool:
        """Whether the job has ended or rests; one that is gone ends the following with an error."""
        job = self._job()
        if job is None:
            raise JobFailed(f"TrainJob {self._name}: was deleted while it was followed")
        conditions = (job.get("status") or {}).get("conditions") or ()
        return is_finished(conditions) or is_true(conditions, SUSPENDED)

    def _look(self) -> None:
        """Tell new progress and new reasons to wait, and read the logs of containers that are new."""
        job = self._job() or {}
        self._tell_what_it_waits_for(job)
        reported = (job.get("status") or {}).get("trainerStatus")
        if reported and reported != self._progress:
            self._progress = reported
            self._news.put_nowait(progress_view(reported))
        for _, pod in self._pods.items():
            document = pod.document()
            if is_wanted(document, self._whose, job):
                for container in containers_of(document, self._whose):
                    self._read(pod, container)

    def _tell_what_it_waits_for(self, job: Json) -> None:
        """Tell why a job does not run yet, each reason once in a row."""
        if not job or (seen := job_view(job)).phase != "Pending" or seen.message in ("", self._waits_for):
            return
        self._waits_for = seen.message
        self._news.put_nowait(Waiting(seen.message))

    def _read(self, pod: Cached, container: str) -> None:
        """Give the log of a container to a reader, if it has none."""
        if (place := (pod.head.uid, container)) not in self._readers:
            self._readers[place] = asyncio.create_task(
                self._follow_log(pod.head.key, pod.head.uid, container)
            )

    async def _follow_log(self, key: Key, uid: str, container: str) -> None:
        def has_ended() -> bool:
            pod = self._pods.get(key)
            if pod is None or pod.head.uid != uid:
                return True
            return (pod.document().get("status") or {}).get("phase") in ENDED

        reader = LogReader(self._transport, self._namespace, key[1], container)
        async for line in reader.follow(has_ended, tail=self._tail):
            self._news.put_nowait(line)

    def _job(self) -> Json | None:
        found = self._jobs.get((self._namespace, self._name))
        return found.document() if found else None

    def _on_change(self, _key: Key, _old: Cached | None, _new: Cached | None) -> None:
        self._changed.set()

    def _on_event(self, key: Key, _old: Cached | None, new: Cached | None) -> None:
        """Tell an event of the job, and again when it has come again."""
        job = self._job()
        if new is None or job is None:
            return
        event = new.document()
        seen = (new.head.uid, int(event.get("count") or 1))
        if is_about(event, job) and self._told.get(key) != seen:
            self._told[key] = seen
            self._news.put_nowait(event_view(event))
