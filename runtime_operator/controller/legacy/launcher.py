"""When an MPIJob of v2beta1 runs and ends: its launcher decides, in the MPI Operator's words.

The launcher is tried as often as a Job of Kubernetes is, and fails with a Job's reasons. A worker that fails
ends nothing, since the launcher will notice; only workers that were evicted are told at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ...api.legacy import LegacyJob
from ...render.legacy.policies import LAUNCHER_TRIES
from .conditions import FAILED, RUNNING, SUCCEEDED
from .outcome import EVICTED, Outcome
from .pods import FAILED as POD_FAILED
from .pods import RUNNING as POD_RUNNING
from .pods import SUCCEEDED as POD_SUCCEEDED
from .pods import Count, Place, PodState

LAUNCHER, WORKER = "Launcher", "Worker"
MOST_LETTERS = 1024
"""of a message"""
TRIED_OUT = "BackoffLimitExceeded"
TOO_LONG = "DeadlineExceeded"


def launcher_limit(
    job: LegacyJob, due: datetime | None, pods: Iterable[PodState], now: datetime
) -> Outcome | None:
    """Say why the launcher is not to be tried again, or to be stopped; None if it may go on."""
    tries = sorted((pod for pod in pods if pod.role == LAUNCHER), key=lambda pod: pod.attempt)
    failed = [pod for pod in tries if pod.phase == POD_FAILED]
    if tries and tries[-1].phase == POD_SUCCEEDED:
        return None
    limit = LAUNCHER_TRIES if job.policy.backoff_limit is None else job.policy.backoff_limit
    restarts = sum(pod.restarts for pod in tries if pod.phase == POD_RUNNING)
    if len(failed) > limit or restarts >= max(limit, 1):
        return _tried_out(failed)
    if due is not None and due <= now:
        return Outcome(FAILED, "Job was active longer than specified deadline", job_reason=TOO_LONG)
    return None


def launcher_outcome(
    job: LegacyJob, pods: Mapping[Place, PodState], counts: Mapping[str, Count]
) -> Outcome | None:
    """Say what the newest pods mean for the job; None while they do not run yet."""
    who = f"MPIJob {job.namespace}/{job.name}"
    workers = [pod for pod in pods.values() if pod.role == WORKER]
    if counts[LAUNCHER].succeeded:
        return Outcome(SUCCEEDED, f"{who} successfully completed.")
    if evicted := [pod for pod in workers if pod.phase == POD_FAILED and pod.evicted]:
        return Outcome(FAILED, f"{len(evicted)}/{len(workers)} workers are evicted", EVICTED)
    wanted = job.role(WORKER)
    together = wanted is None or counts[WORKER].active == wanted.replicas
    return Outcome(RUNNING, f"{who} is running.") if counts[LAUNCHER].active and together else None


def _tried_out(failed: list[PodState]) -> Outcome:
    """The reason of the Job, with what the last pod that failed has to say."""
    reason, message = TRIED_OUT, "Job has reached the specified backoff limit"
    if failed and failed[-1].reason:
        reason = f"{reason}/{failed[-1].reason}"
    if failed and failed[-1].message:
        message = f"{message}: {failed[-1].message}"[:MOST_LETTERS]
    return Outcome(FAILED, message, job_reason=reason)
