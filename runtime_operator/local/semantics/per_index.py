"""A Job's backoffLimitPerIndex: each index has failures of its own, and may fail alone.

A failed pod hands its count on to the pod that replaces it, so it stays uncounted until then. The Job
fails when more indexes have failed than maxFailedIndexes, or when none is left to run.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from .indexes import parse
from .job_backoff import due, finished_at
from .model import Job, Pod
from .pod_failure_policy import is_failed, match


def is_per_index(job: Job) -> bool:
    """Whether failures are counted by index."""
    return job.spec.get("backoffLimitPerIndex") is not None


def failed_indexes(job: Job, pods: Sequence[Pod]) -> frozenset[int]:
    """The indexes that have failed for good."""
    before = parse(job.status.failed_indexes or "", job.spec["completions"])
    now = {pod.index for pod in pods if pod.tracked and pod.index is not None and _index_failed(job, pod)}
    return before | now


def _index_failed(job: Job, pod: Pod) -> bool:
    if not is_failed(job, pod):
        return False
    rule = match(job, pod)
    return rule.action == "FailIndex" or (rule.counts and pod.failures >= job.spec["backoffLimitPerIndex"])


def verdict(job: Job, *, failed: Set[int], succeeded: Set[int]) -> tuple[str, str] | None:
    """Reason and message if the Job fails for its failed indexes."""
    most = job.spec.get("maxFailedIndexes")
    if most is not None and len(failed) > most:
        return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
    if failed and len(failed) + len(succeeded) >= job.spec["completions"]:
        return "FailedIndexes", "Job has failed indexes"
    return None


def to_replace(job: Job, pods: Sequence[Pod], *, settled: Set[int]) -> dict[int, Pod]:
    """By index the failed pod whose count its replacement takes over; `settled` need none."""
    found: dict[int, Pod] = {}
    for pod in pods:
        if pod.index is not None and pod.tracked and pod.index not in settled and is_failed(job, pod):
            found[pod.index] = pod
    return found


def replacement_due(pod: Pod | None) -> float | None:
    """When the pod may be replaced; None: at once."""
    if pod is None:
        return None
    return due(pod.failures + pod.ignored + 1, finished_at(pod))


def counts_after(job: Job, pod: Pod | None) -> tuple[int, int]:
    """Failures and ignored failures at an index, for the pod that replaces this one."""
    if pod is None:
        return 0, 0
    if match(job, pod).counts:
        return pod.failures + 1, pod.ignored
    return pod.failures, pod.ignored + 1
