"""What there is of a job in a cluster: its object, its pods, its events, the reasons of its shape."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import orjson

from ...api.legacy.names import INDEX_LABEL, JOB_LABEL, ROLE_LABEL
from ...api.names import JOBSET_LABEL
from ...api.read import read
from ...api.trainjob import TrainJob
from ...errors import KfpTrainerError, SpecError
from ...kube.errors import NotFound
from ...kube.resource import CONFIG_MAPS, EVENTS, PODS, Resource
from ...kube.transport import Transport
from ...render import snapshot
from ...render.facts import Facts
from ...render.render import render
from ..protocol import Event, Line
from .creation import find
from .kinds import RUNTIMES, TRAIN_JOBS
from .logs import LogReader
from .views import JOB_INDEX_LABEL, REPLICATED_JOB_LABEL, event_view, in_order, is_about

Json = dict[str, Any]


async def read_job(transport: Transport, namespace: str, name: str) -> Json:
    """Read a TrainJob; SpecError if there is none."""
    found = await find(transport, namespace, name)
    if found is None:
        raise SpecError(f"job {name}: not found in namespace {namespace}; `get` lists those there are")
    return dict(found)


async def read_jobs(transport: Transport, namespace: str) -> list[Json]:
    """Read the TrainJobs of a namespace, the oldest first."""
    return in_order(await _all(transport, TRAIN_JOBS, namespace))


async def read_pods(transport: Transport, namespace: str, name: str) -> list[Json]:
    """Read the pods of a job, in the order in which they were made."""
    return in_order(await _all(transport, PODS, namespace, labels=f"{JOBSET_LABEL}={name}"))


async def read_role(transport: Transport, namespace: str, name: str, role: str) -> list[Json]:
    """Read the pods of one role of a job of an older kind, or of one replicated job, in their order."""
    wanted = role.lower()
    older = f"{JOB_LABEL}={name},{ROLE_LABEL}={wanted}"
    newer = f"{JOBSET_LABEL}={name},{REPLICATED_JOB_LABEL}={wanted}"
    for labels in (older, newer):
        if found := await _all(transport, PODS, namespace, labels=labels):
            return sorted(in_order(found), key=_number)
    raise SpecError(f"--role: job {name} has no pod of role {wanted} in namespace {namespace}")


def _number(pod: Json) -> int:
    """The number of a pod within its role."""
    labels = pod["metadata"]["labels"]
    return int(labels.get(INDEX_LABEL) or labels.get(JOB_INDEX_LABEL) or 0)


async def read_events(transport: Transport, namespace: str, job: Json) -> list[Event]:
    """Read what has happened to a job and to what was made for it."""
    told = [each for each in await _all(transport, EVENTS, namespace) if is_about(each, job)]
    return sorted((event_view(each) for each in told), key=lambda event: event.time)


async def read_log(
    transport: Transport, namespace: str, pod: str, container: str, *, tail: int | None
) -> list[Line]:
    """Read what a container has printed; nothing if it has not run."""
    try:
        lines = LogReader(transport, namespace, pod, container).read(tail=tail)
        async with aclosing(lines):
            return [line async for line in lines]
    except KfpTrainerError as error:
        if getattr(error, "status", 0) in (400, 404):
            return []
        raise


async def read_decisions(transport: Transport, namespace: str, job: Json) -> list[tuple[str, str, str]]:
    """Say again what was decided when the job was rendered; nothing where its runtime cannot be read."""
    reference, name = job["spec"]["runtimeRef"], job["metadata"]["name"] + snapshot.SUFFIX
    resource = RUNTIMES.get(reference.get("kind", ""))
    if resource is None:
        return []
    try:
        runtime = read(orjson.loads(await transport.get(resource, namespace, reference["name"])))
        parsed = read(job)
        held = await _one(transport, CONFIG_MAPS, namespace, name)
        existing = {("ConfigMap", name): held} if held else {}
        assert isinstance(parsed, TrainJob)
        assert not isinstance(runtime, TrainJob)
        decisions = render(parsed, runtime, Facts(existing)).decisions
    except KfpTrainerError:
        return []
    return [(each.field, each.value, each.reason) for each in decisions]


async def _one(transport: Transport, resource: Resource, namespace: str, name: str) -> Json | None:
    try:
        found: Json = orjson.loads(await transport.get(resource, namespace, name))
    except NotFound:
        return None
    return found


async def _all(transport: Transport, resource: Resource, namespace: str, *, labels: str = "") -> list[Json]:
    pages = transport.list(resource, namespace=namespace, labels=labels)
    async with aclosing(pages):
        return [orjson.loads(item) async for page in pages for item in page.items]
