"""How many failures a Job stands, and how long it waits before it makes a pod anew.

The wait doubles from 10 s with each failure in a row, up to 10 min; a success in between begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .model import PENDING, RUNNING, Backoff, Job, Pod

FIRST_WAIT, LONGEST_WAIT = 10.0, 600.0


def limit_is_passed(job: Job, pods: Sequence[Pod], *, failed: int) -> bool:
    """Whether the Job has had more failures than its backoffLimit allows."""
    return failed > int(job.spec["backoffLimit"]) or _restarts_pass_limit(job, pods)


def _restarts_pass_limit(job: Job, pods: Sequence[Pod]) -> bool:
    """Under OnFailure the restarts in place of all pods that run are summed."""
    if job.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    running = [pod for pod in pods if pod.report.phase in (PENDING, RUNNING)]
    restarts = sum(count for pod in running for _, count in pod.report.restarts)
    return restarts >= max(int(job.spec["backoffLimit"]), 1)


def finished_at(pod: Pod) -> float:
    """When the pod ended, or was told to."""
    return next(t for t in (pod.report.finished, pod.deleted, pod.created) if t is not None)


def next_record(record: Backoff, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> Backoff:
    """The record of failures in a row, with what has just ended."""
    if not succeeded:
        if not failed:
            return record
        return Backoff(record.failures + len(failed), max(map(finished_at, failed)))
    last_success = max(map(finished_at, succeeded))
    after = [finished_at(pod) for pod in failed if finished_at(pod) > last_success]
    return replace(record, failures=len(after), last=max(after, default=None))


def due(failures: int, last: float | None) -> float | None:
    """When the next pod may be made; None: at once."""
    if not failures or last is None:
        return None
    return last + min(FIRST_WAIT * 2.0 ** min(failures - 1, 16), LONGEST_WAIT)
