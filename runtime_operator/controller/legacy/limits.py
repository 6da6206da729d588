"""When a job has had its time or its tries, and when it is to be deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ...api.legacy import LegacyJob
from ...conditions import read_time
from .conditions import FAILED
from .launcher import launcher_limit
from .outcome import Outcome
from .pods import PodState, retries

Json = Mapping[str, Any]


def limit_passed(job: LegacyJob, status: Json, pods: Iterable[PodState], now: datetime) -> Outcome | None:
    """Say why the job must end now; None if it may go on."""
    due = deadline(job, status)
    if job.kind.uses_ssh:
        return launcher_limit(job, due, pods, now)
    limit = job.policy.backoff_limit
    tried = retries(job, pods) if limit is not None else 0
    if limit is not None and tried >= max(limit, 1):
        return Outcome(
            FAILED, f"Job {job.name} has failed because it has reached the specified backoff limit"
        )
    if due is not None and due <= now:
        return Outcome(
            FAILED, f"Job {job.name} has failed because it was active longer than specified deadline"
        )
    return None


def deadline(job: LegacyJob, status: Json) -> datetime | None:
    """When the job must have ended; it counts from its start, or from the last time it was resumed."""
    return _after(status.get("startTime"), job.policy.deadline_seconds)


def expiry(job: LegacyJob, status: Json) -> datetime | None:
    """When a job that has ended is to be deleted; None if it stays until a person deletes it."""
    return _after(status.get("completionTime"), job.policy.ttl_seconds)


def _after(moment: str | None, seconds: int | None) -> datetime | None:
    if moment is None or seconds is None:
        return None
    return read_time(moment) + timedelta(seconds=seconds)
