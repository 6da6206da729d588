"""What a TrainJob does at a certain time: run out of its time, give up waiting for pods, be cleared away.

All times come from the object, so that a restarted controller reckons as the one before it did. A job
that is suspended has no deadline; its time starts again when it is resumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ..api.names import REASON_DEADLINE, REASON_START_DEADLINE, SUSPENDED
from ..conditions import find, read_time
from ..render.plan import Object
from .ownership import is_suspended


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time, and with which words a job fails that has not ended by then."""

    at: datetime
    reason: str
    message: str


def deadlines(job: Object, status: Object) -> tuple[Deadline, ...]:
    """The deadlines of a job that has not ended, the soonest first."""
    since = _counted_from(job, status)
    if since is None or is_suspended(job):
        return ()
    spec = job.get("spec", {})
    found = []
    if seconds := spec.get("activeDeadlineSeconds"):
        message = "TrainJob exceeded its active deadline"
        found.append(Deadline(since + timedelta(seconds=seconds), REASON_DEADLINE, message))
    if (seconds := spec.get("startDeadlineSeconds")) and "startTime" not in status:
        message = f"TrainJob did not get all its pods running within {seconds} s"
        found.append(Deadline(since + timedelta(seconds=seconds), REASON_START_DEADLINE, message))
    return tuple(sorted(found, key=lambda deadline: deadline.at))


def _counted_from(job: Object, status: Object) -> datetime | None:
    """Since when the job may run: its creation, or the last time it was resumed."""
    suspended = find(status.get("conditions") or (), SUSPENDED)
    if suspended is not None and suspended["status"] == "False":
        return read_time(suspended["lastTransitionTime"])
    created = job["metadata"].get("creationTimestamp")
    return read_time(created) if created else None


def cleared_at(job: Object, status: Object) -> datetime | None:
    """When a job that has ended is to be deleted; None if it stays until a person deletes it."""
    ttl = job.get("spec", {}).get("ttlSecondsAfterFinished")
    return None if ttl is None else read_time(status["completionTime"]) + timedelta(seconds=ttl)
