"""Which pods a Job should have now: the Job controller's plan for one pass.

So many are active as completions are left, at most `parallelism`; a new one waits for its back-off. A
suspended Job has none, and those that it had are never counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import job_backoff, per_index
from .actions import Action, CreatePod, ReleasePod, StopPod, earlier
from .build_pod import is_indexed
from .indexes import first_free
from .model import Backoff, Job, Pod
from .pod_failure_policy import replaces_only_ended


@dataclass(frozen=True, slots=True)
class Look:
    """What a pass sees of its Job before it acts."""

    pods: tuple[Pod, ...]
    active: tuple[Pod, ...]
    succeeded: int
    succeeded_indexes: frozenset[int]
    failed: int
    failed_indexes: frozenset[int]
    backoff: Backoff

    @property
    def ready(self) -> int:
        """How many active pods are ready."""
        return sum(pod.report.ready for pod in self.active)

    @property
    def terminating(self) -> int:
        """How many pods have been told to stop and have not."""
        return sum(pod.terminating for pod in self.pods)

    def to_replace(self, job: Job) -> dict[int, Pod]:
        """By index the failed pod that the next one at this index takes over from."""
        running = {pod.index for pod in self.active if pod.index is not None}
        return per_index.to_replace(
            job, self.pods, settled=running | self.succeeded_indexes | self.failed_indexes
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with the pods, and how many there are then."""

    actions: tuple[Action, ...]
    active: int
    ready: int
    terminating: int
    look_again: float | None = None


def plan_pods(job: Job, look: Look, now: float) -> Plan:
    """The pods to make or to stop now."""
    active = len(look.active)
    keep = Plan((), active, look.ready, look.terminating)
    if job.deleted is not None:
        return keep
    if job.suspended:
        return _suspend(look)
    waiting = look.terminating if replaces_only_ended(job) else 0
    missing = _wanted(job, look) - waiting - active
    if missing <= 0:
        return keep
    creations, due = _creations(job, look, missing, now)
    return Plan(tuple(creations), active + len(creations), look.ready, look.terminating, due)


def _suspend(look: Look) -> Plan:
    """Released before they are stopped, so that nobody counts them."""
    actions: list[Action] = []
    for pod in look.active:
        actions += [ReleasePod(pod.uid), StopPod(pod.uid)]
    return Plan(tuple(actions), active=0, ready=0, terminating=look.terminating + len(look.active))


def _wanted(job: Job, look: Look) -> int:
    """How many pods are to be active; without completions the first success calls for no more."""
    completions, parallelism = job.spec.get("completions"), int(job.spec["parallelism"])
    if completions is None:
        return len(look.active) if look.succeeded else parallelism
    return min(parallelism, int(completions) - look.succeeded)


def _creations(job: Job, look: Look, missing: int, now: float) -> tuple[Sequence[CreatePod], float | None]:
    """The pods that may be made now, or when the next may be."""
    if per_index.is_per_index(job):
        return _creations_per_index(job, look, missing, now)
    due = job_backoff.due(look.backoff.failures, look.backoff.last)
    if due is not None and due > now:
        return (), due
    if not is_indexed(job):
        return [CreatePod(job.uid, None)] * missing, None
    return [CreatePod(job.uid, index) for index in _free(job, look, missing)], None


def _free(job: Job, look: Look, missing: int) -> list[int]:
    """The indexes that need a pod."""
    taken = {pod.index for pod in look.active if pod.index is not None}
    if replaces_only_ended(job):
        taken |= {pod.index for pod in look.pods if pod.terminating and pod.index is not None}
    return first_free(
        taken | look.succeeded_indexes | look.failed_indexes, missing, int(job.spec["completions"])
    )


def _creations_per_index(
    job: Job, look: Look, missing: int, now: float
) -> tuple[Sequence[CreatePod], float | None]:
    """Each index waits for its own back-off; if all wait, until the first may go."""
    failed = look.to_replace(job)
    dues = {index: per_index.replacement_due(failed.get(index)) for index in _free(job, look, missing)}
    ready = [index for index, due in dues.items() if due is None or due <= now]
    creations = [CreatePod(job.uid, i, *per_index.counts_after(job, failed.get(i))) for i in ready]
    later = earlier(*(due for index, due in dues.items() if index not in ready))
    return creations, later
