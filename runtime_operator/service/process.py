"""One process of the operator from its start to its end.

Every replica keeps the caches and answers admission and progress; only the one that leads acts on TrainJobs.
A replica that loses leadership ends, since it cannot know what the next one has done. Told to stop, it lets
go of leadership first, answers for a moment those who do not know yet, and closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import socket
import uuid
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any

from ..conditions import write_time
from ..controller.kinds import JOBSETS, TRAIN_JOBS
from ..controller.reconcile import utc_now
from ..errors import KfpTrainerError
from ..kube.credentials import load_credentials
from ..kube.discovery import is_served
from ..kube.election import Election
from ..kube.errors import ApiError
from ..kube.http_transport import HttpTransport
from ..kube.in_cluster import is_in_cluster
from ..kube.transport import Transport
from ..webhook.progress_server import progress_application
from ..webhook.server import admission_application
from .health import health_application, silent
from .metrics_page import metrics_application
from .old_finalizers import strip_forever
from .parts import Parts
from .servers import Servers
from .settings import LEASE, SYSTEM_NAMESPACE, ServiceSettings, check_settings
from .token_keeper import TokenKeeper

LOG = logging.getLogger(__name__)
SILENT_FOR = 2.0  # times the time between two resyncs
DRAIN = 5.0  # seconds in which an API server may still call a replica that goes
POD_NAME = "POD_NAME"
LAST_EVENTS = 1.0  # seconds
NEEDED = {
    TRAIN_JOBS: "apply manifests/crds",
    JOBSETS: "install JobSet 0.8 or newer (github.com/kubernetes-sigs/jobset)",
}


async def run_operator(settings: ServiceSettings, stop: asyncio.Event) -> None:
    """Run until told to stop; KfpTrainerError if it cannot go on."""
    check_settings(settings)
    cluster = load_credentials(settings.kubeconfig, settings.context)
    inside = settings.kubeconfig is None and not settings.context and is_in_cluster(os.environ)
    own = settings.own_namespace or (cluster.namespace if inside else settings.namespace or SYSTEM_NAMESPACE)
    async with HttpTransport(cluster) as transport:
        await serve(Parts(transport, settings, own), stop)


async def serve(parts: Parts, stop: asyncio.Event) -> None:
    """Serve with these parts until told to stop, or until one of them fails."""
    process = _Process(parts)
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(each) for each in process.background()]
            leading = group.create_task(process.lead())
            opening = group.create_task(process.open())
            await stop.wait()
            LOG.info("stops")
            process.is_stopping = process.servers.will_close = True
            await _cancel([leading, opening])
            await _tell_the_last(parts)
            await asyncio.sleep(DRAIN if process.is_open and parts.settings.admits else 0.0)
            await _cancel(running)
    except BaseExceptionGroup as failed:
        raise _first(failed) from failed
    finally:
        await process.servers.close()


class _Process:
    """The parts as they run."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._settings = parts, parts.settings
        self.servers = Servers(parts.settings.host)
        self.is_stopping = False
        self.is_open = False

    def background(self) -> Iterator[Coroutine[Any, Any, None]]:
        """What runs in every replica."""
        parts = self._parts
        yield parts.operator.watch()
        yield parts.recorder.run()
        yield _tell_what_is_missing(parts.transport)
        if self._settings.admits:
            yield parts.world.priority_classes.run()
        if parts.serving is not None:
            yield parts.serving.keep()

    async def open(self) -> None:
        """Listen: for probes at once, for everything else when it can be answered."""
        parts, settings, servers = self._parts, self._settings, self.servers
        health = health_application(
            against_life=self._against_life, against_readiness=self._against_readiness
        )
        await servers.open(health, "--health-port", settings.health_port)
        tls = None
        if parts.serving is not None:
            await parts.serving.ready.wait()
            tls = parts.serving.context
        page = metrics_application(parts.registry, parts.operator.measure)
        await servers.open(page, "--metrics-port", settings.metrics_port, tls=tls)
        if settings.takes_progress:
            keeper = TokenKeeper(parts.transport)
            progress = progress_application(keeper, parts.admission_metrics)
            await servers.open(progress, "--progress-port", settings.progress_port, tls=tls)
        await parts.operator.synced()
        if settings.admits:
            await parts.world.priority_classes.synced.wait()
            admission = admission_application(
                parts.world,
                parts.admission_metrics,
                now=lambda: write_time(utc_now()),
                older_kinds=settings.older_kinds,
            )
            await servers.open(admission, "--webhook-port", settings.webhook_port, tls=tls)
        self.is_open = True
        _settle_memory()
        LOG.info("serves", extra={"namespace": settings.namespace or "all", "webhook": settings.admits})

    async def lead(self) -> None:
        """Act on TrainJobs whenever this replica leads."""
        if self._parts.serving is not None:
            await self._parts.serving.ready.wait()
        if not self._settings.leader_election:
            await self._act()
            return
        election = Election(self._parts.transport, self._parts.own_namespace, LEASE, who_holds())
        await election.lead(self._act)

    async def _act(self) -> None:
        operator = self._parts.operator
        async with asyncio.TaskGroup() as group:
            group.create_task(operator.lead())
            runtimes = operator.caches.runtimes.values()
            group.create_task(strip_forever(self._parts.transport, runtimes))

    def _against_life(self) -> list[str]:
        since = {str(each.resource): each.last_progress for each in self._parts.operator.caches.required}
        longest = SILENT_FOR * self._parts.operator.settings.resync_every
        return silent(since, now=asyncio.get_running_loop().time(), longest=longest)

    def _against_readiness(self) -> Iterator[str]:
        if self.is_stopping:
            yield "stops"
        serving = self._parts.serving
        if serving is not None and not serving.ready.is_set():
            yield "certificate: none is served and trusted yet"
        for each in self._parts.operator.caches.required:
            if not each.synced.is_set():
                yield f"{each.resource}: not read yet{each.trouble and ': '}{each.trouble}"
        if not self.is_open:
            yield "not all ports are open yet"


def who_holds(environ: Mapping[str, str] = os.environ) -> str:
    """The name under which this replica leads: its pod's, so a container that starts again is the same."""
    return environ.get(POD_NAME) or f"{socket.gethostname()}_{uuid.uuid4()}"


async def _tell_what_is_missing(transport: Transport) -> None:
    """Say at once what nothing works without; it may come later, so it is no reason to end."""
    for resource, cure in NEEDED.items():
        try:
            if not await is_served(transport, resource):
                LOG.warning("the cluster serves no %s: %s", resource, cure)
        except ApiError as error:
            LOG.warning("cannot ask what the cluster serves", extra={"why": str(error)})


def _settle_memory() -> None:
    """What is cached now stays: let the garbage collector pass it by, and look rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


async def _tell_the_last(parts: Parts) -> None:
    """Write the events that wait, if the API server takes them now."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LAST_EVENTS):
            await parts.recorder.flush()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that a person needs: ours, if there is one among them."""
    flat = list(_flat(failed))
    return next((each for each in flat if isinstance(each, KfpTrainerError)), flat[0])


def _flat(failed: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in failed.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _flat(each)
        else:
            yield each
