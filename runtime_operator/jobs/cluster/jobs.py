"""Jobs of one namespace of a cluster, for ordinary code: each call waits for what an API server says.

Nothing is kept here: whoever asks, from wherever, sees the same. Inside a pod nothing is needed but the pod's
own ServiceAccount.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import partial

import orjson

from ...api.names import CANCEL_ANNOTATION, FAILED
from ...errors import JobFailed, Retryable, SpecError
from ...kube.cluster import Cluster
from ...kube.http_transport import HttpTransport
from ...local.causes import deaths
from ...local.status import find as find_condition
from ..description import Description
from ..digest import LAST_LINES, digest
from ..protocol import SPEAKER, Document, Event, Job, Line, News, OnLine, Whose
from ..waiting import wait
from . import reading
from .adoption import for_a_person, for_an_owner
from .bridge import Bridge
from .creation import MANAGER, remove, settle
from .following import Follower
from .kinds import TRAIN_JOBS
from .request import prepare
from .views import containers_of, description_view, is_wanted, job_view, pod_times


class ClusterJobs:
    """The jobs of one namespace of a cluster."""

    def __init__(self, cluster: Cluster, *, namespace: str = "") -> None:
        self.namespace = namespace or cluster.namespace
        self._bridge = Bridge()
        self._transport = self._bridge.enter(HttpTransport(cluster))

    def create(self, documents: Document | Sequence[Document], *, allow_fewer: bool = False) -> str:
        """Make the job; an equal one that runs or has succeeded is adopted, one that failed is replaced."""
        if allow_fewer:
            raise SpecError("--allow-fewer: is for one machine; in a cluster a job waits until there is room")
        request = prepare(documents, namespace=self.namespace)
        decide = partial(for_a_person, request=request)
        return self._bridge.run(settle(self._transport, self.namespace, request, owner="", decide=decide))

    def adopt_or_create(
        self, documents: Document | Sequence[Document], *, owner: str = "", retries: int = 0
    ) -> str:
        """As `create`, for an owner that may ask again: a failed job is replaced `retries` times."""
        request = prepare(documents, namespace=self.namespace)
        decide = partial(for_an_owner, request=request, owner=owner, retries=retries)
        return self._bridge.run(settle(self._transport, self.namespace, request, owner=owner, decide=decide))

    def wait(self, name: str, *, on_line: OnLine | None = None, timeout: float | None = None) -> Job:
        """Wait for a job to end; JobFailed says what died, where and why."""
        return wait(self, name, on_line=on_line, timeout=timeout)

    def follow(
        self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None, until: float | None = None
    ) -> Iterator[News]:
        """What happens to a TrainJob until it ends: its lines, of each log from the last few on, and more."""
        seconds = None if until is None else max(until - time.monotonic(), 0.0)
        return self._bridge.iterate(self._follow(name, whose, tail, seconds))

    async def _follow(
        self, name: str, whose: Whose, tail: int | None, seconds: float | None
    ) -> AsyncGenerator[News, None]:
        try:
            await reading.read_job(self._transport, self.namespace, name)
        except SpecError:
            if not whose.role:
                raise
            raise SpecError(
                f"job {name}: is no TrainJob of namespace {self.namespace}, and no other is followed in a "
                "cluster; leave -f out, or let kubectl logs -f follow a pod"
            ) from None
        follower = Follower(self._transport, self.namespace, name, whose=whose, tail=tail)
        async with aclosing(follower.news(seconds=seconds)) as news:
            async for each in news:
                yield each

    def get(self, name: str) -> Job:
        """How a job is now."""
        return job_view(self._read(name))

    def list(self) -> Sequence[Job]:
        """All jobs of the namespace."""
        return [
            job_view(each) for each in self._bridge.run(reading.read_jobs(self._transport, self.namespace))
        ]

    def logs(self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None) -> Iterator[Line]:
        """What the containers of a job have printed."""
        if whose.role:
            found = self._bridge.run(reading.read_role(self._transport, self.namespace, name, whose.role))
        else:
            job = self._read(name)
            found = [each for each in self._pods(name) if is_wanted(each, whose, job)]
        for each in found:
            for its in containers_of(each, whose):
                yield from self._bridge.run(self._log(each["metadata"]["name"], its, tail))

    def events(self, name: str) -> Sequence[Event]:
        """What has happened to a job."""
        job = self._read(name)
        return self._bridge.run(reading.read_events(self._transport, self.namespace, job))

    def cancel(self, name: str) -> None:
        """End a job; its status stays, and its logs for as long as the cluster keeps its pods."""
        change = orjson.dumps({"metadata": {"annotations": {CANCEL_ANNOTATION: "true"}}})
        self._read(name)
        self._bridge.run(self._transport.patch(TRAIN_JOBS, self.namespace, name, change, manager=MANAGER))

    def delete(self, name: str, *, timeout: float | None = None) -> None:
        """End a job and remove all that is left of it."""
        self._bridge.run(self._delete(self._read(name), timeout))

    async def _delete(self, job: reading.Json, timeout: float | None) -> None:
        name = job["metadata"]["name"]
        try:
            async with asyncio.timeout(timeout):
                await remove(self._transport, self.namespace, job)
        except TimeoutError as error:
            text = f"TrainJob {name}: is not gone within {timeout:.0f} s; it is being deleted"
            raise Retryable(text, after=5) from error

    def describe(self, name: str) -> Description:
        """Everything around a job, and why it is where it is."""
        job = self._read(name)
        decisions = self._bridge.run(reading.read_decisions(self._transport, self.namespace, job))
        return description_view(job, self._pods(name), self.events(name), decisions)

    def digest(self, name: str) -> str:
        """How a job failed: cause, last lines, exit codes, where the time went."""
        job, pods = self._read(name), self._pods(name)
        failed = find_condition(job.get("status") or {}, FAILED) or {}
        return digest(
            name,
            why=failed.get("message") or "it has not failed",
            deaths=deaths((each["metadata"]["name"], each.get("status") or {}) for each in pods),
            lines=[line.text for line in self.logs(name, tail=LAST_LINES)],
            times=pod_times(job, pods),
        )

    def exit_code(self, name: str) -> int:
        """The exit code of a job that has ended: of what died first."""
        if self.get(name).phase != "Failed":
            return 0
        found = deaths((each["metadata"]["name"], each.get("status") or {}) for each in self._pods(name))
        return found[0].exit_code if found else JobFailed.exit_code

    def _read(self, name: str) -> reading.Json:
        return self._bridge.run(reading.read_job(self._transport, self.namespace, name))

    def _pods(self, name: str) -> Sequence[reading.Json]:
        return self._bridge.run(reading.read_pods(self._transport, self.namespace, name))

    async def _log(self, pod: str, container: str, tail: int | None) -> Sequence[Line]:
        return await reading.read_log(self._transport, self.namespace, pod, container, tail=tail)
