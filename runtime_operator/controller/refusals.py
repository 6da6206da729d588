"""What the API server answered to new pods and Jobs: quota, admission, claims.

Nobody's status tells of it: the controllers of Job and JobSet try again and write an event. Only these events
are watched. One counts as long as the pods or Jobs it is about are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..conditions import read_time
from ..render.plan import Object
from .counts import counts, replicated_jobs
from .pod_view import PodView

OF_JOBS = "involvedObject.kind=Job,reason=FailedCreate"
OF_JOBSETS = "involvedObject.kind=JobSet,type=Warning"
STALE_AFTER = timedelta(minutes=15)  # the Job controller tries again every ten


@dataclass(frozen=True, slots=True)
class Refusal:
    """One event about a Job or a JobSet that could not make what it should."""

    kind: str
    name: str
    message: str
    last: str


def refusal(event: Object) -> Refusal | None:
    """Take from an event what is remembered of it; None where it tells of something else."""
    about = event.get("involvedObject") or {}
    if not event.get("reason", "").endswith(("FailedCreate", "CreationFailed")):
        return None
    last = event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or ""
    message = (event.get("message") or "").removeprefix("Error creating: ")
    return Refusal(about.get("kind", ""), about.get("name", ""), message, last)


def standing(
    jobset: Object, told: Iterable[Refusal], pods: Iterable[PodView], *, now: datetime
) -> tuple[str, ...]:
    """The refusals that still keep pods from being made, the newest first."""
    alive = list(pods)
    wanted = dict(_wanted(jobset))
    found = [
        each
        for each in told
        if each.last and now - read_time(each.last) < STALE_AFTER and _stands(each, jobset, wanted, alive)
    ]
    return tuple(
        dict.fromkeys(each.message for each in sorted(found, key=lambda one: one.last, reverse=True))
    )


def _stands(told: Refusal, jobset: Object, wanted: dict[str, int], pods: list[PodView]) -> bool:
    if told.kind == "JobSet":
        return not any(each["active"] + each["ready"] + each["succeeded"] for each in counts(jobset))
    made = sum(pod.name.startswith(f"{told.name}-") for pod in pods)
    return made < wanted.get(told.name, 0)


def _wanted(jobset: Object) -> Iterator[tuple[str, int]]:
    """How many pods each Job of a JobSet has at a time."""
    name = jobset["metadata"]["name"]
    for each in replicated_jobs(jobset):
        size = ((each.get("template") or {}).get("spec") or {}).get("parallelism", 1)
        for index in range(each.get("replicas", 1)):
            yield f"{name}-{each['name']}-{index}", size
