"""The JobSet's Jobs, sorted: those of an earlier attempt, and the others by how they fare."""

from __future__ import annotations

from dataclasses import dataclass

from .labels import ATTEMPT, REPLICATED_JOB
from .model import Job, ReplicatedJobStatus, State


@dataclass(frozen=True, slots=True)
class Owned:
    """Jobs of the current attempt by state, and those of earlier attempts."""

    active: tuple[Job, ...]
    successful: tuple[Job, ...]
    failed: tuple[Job, ...]
    previous: tuple[Job, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that are taken."""
        everyone = (*self.active, *self.successful, *self.failed, *self.previous)
        return frozenset(job.name for job in everyone)


def owned_jobs(state: State) -> Owned:
    """The Jobs that there are, sorted."""
    previous = tuple(job for job in state.jobs if int(job.labels[ATTEMPT]) < state.status.restarts)
    current = [job for job in state.jobs if job not in previous]
    ends = {job.uid: job.ended.type if job.ended else "" for job in current}
    return Owned(
        active=tuple(job for job in current if not ends[job.uid]),
        successful=tuple(job for job in current if ends[job.uid] == "Complete"),
        failed=tuple(job for job in current if ends[job.uid] == "Failed"),
        previous=previous,
    )


def parent(job: Job) -> str:
    """Name of the replicated Job that a Job is one of."""
    return job.labels[REPLICATED_JOB]


def count(state: State, owned: Owned) -> tuple[ReplicatedJobStatus, ...]:
    """How many Jobs of each replicated Job are in which state, sorted by name."""
    names = sorted(each["name"] for each in state.replicated_jobs)
    return tuple(_count_one(name, owned) for name in names)


def _count_one(name: str, owned: Owned) -> ReplicatedJobStatus:
    active = [job for job in owned.active if parent(job) == name]
    return ReplicatedJobStatus(
        name,
        ready=sum(map(_is_ready, active)),
        succeeded=sum(parent(job) == name for job in owned.successful),
        failed=sum(parent(job) == name for job in owned.failed),
        active=sum(job.status.active > 0 for job in active),
        suspended=sum(job.suspended for job in active),
    )


def _is_ready(job: Job) -> bool:
    """As many pods are ready or have succeeded as run side by side."""
    completions, parallelism = job.spec.get("completions"), int(job.spec["parallelism"])
    pods = parallelism if completions is None else min(parallelism, int(completions))
    return job.status.succeeded + job.status.ready >= pods


def all_ready(state: State, counts: tuple[ReplicatedJobStatus, ...]) -> bool:
    """Whether every Job is ready or has succeeded."""
    wanted = sum(int(each.get("replicas", 1)) for each in state.replicated_jobs)
    return wanted == sum(each.ready + each.succeeded for each in counts)
