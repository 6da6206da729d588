"""The status of a TrainJob, read off its JobSet.

Conditions and counts are the JobSet's: its reason and message are copied, and `jobsStatus` counts as it
counts. What a TrainJob once said about its end stays, whatever becomes of the JobSet: a TTL may delete
it, a person may, and the job has ended all the same. `startTime` is when all its pods ran for the first
time, `completionTime` when it ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..render.plan import Object
from .conditions import (
    COMPLETE,
    FAILED,
    SUSPENDED,
    Condition,
    condition,
    find,
    is_finished,
    is_true,
    put,
    write_time,
)
from .ownership import is_suspended

# What a JobSet calls its end, and what a TrainJob calls it; a failure counts more when both are there.
ENDS = {"Failed": FAILED, "Completed": COMPLETE}
COUNTS = ("ready", "succeeded", "failed", "active", "suspended")


def observe(job: Object, jobset: Object | None, *, now: datetime) -> Object:
    """The status that follows from the job, its last status and its own JobSet, if it has one."""
    status = job.get("status") or {}
    conditions = _with_suspended(status.get("conditions") or (), job, now=now)
    seen: dict[str, Any] = {**status, "conditions": conditions}
    if jobset is None and not is_finished(conditions):
        seen.pop("jobsStatus", None)  # whatever was counted is no more
    elif jobset is not None:
        seen["conditions"] = conditions if is_finished(conditions) else _with_end(conditions, jobset, now=now)
        seen["jobsStatus"] = _counts(jobset)
    return _with_times(seen, jobset, now=now)


def fail(status: Object, *, reason: str, message: str, now: datetime) -> Object:
    """The status of a job that we end ourselves."""
    ended = condition(FAILED, holds=True, reason=reason, message=message, since=write_time(now))
    return _with_times({**status, "conditions": put(status.get("conditions") or (), ended)}, None, now=now)


def _with_suspended(conditions: Sequence[Condition], job: Object, *, now: datetime) -> tuple[Condition, ...]:
    """`Suspended` once the job was asked to rest; a job that never was has no such condition."""
    since = write_time(now)
    if is_suspended(job):
        message = "TrainJob is suspended"
        return put(
            conditions, condition(SUSPENDED, holds=True, reason="Suspended", message=message, since=since)
        )
    if is_true(conditions, SUSPENDED):
        message = "TrainJob is resumed"
        return put(
            conditions, condition(SUSPENDED, holds=False, reason="Resumed", message=message, since=since)
        )
    return tuple(conditions)


def _with_end(conditions: Sequence[Condition], jobset: Object, *, now: datetime) -> tuple[Condition, ...]:
    told = (jobset.get("status") or {}).get("conditions") or ()
    for theirs, ours in ENDS.items():
        end = find(told, theirs)
        if end is not None and end["status"] == "True":
            since = end.get("lastTransitionTime") or write_time(now)
            ended = condition(
                ours, holds=True, reason=end.get("reason", ""), message=end.get("message", ""), since=since
            )
            return put(conditions, ended)
    return tuple(conditions)


def _counts(jobset: Object) -> tuple[Mapping[str, Any], ...]:
    """How many Jobs of each replicated job are in which state. Jobs, not pods: the SDK reads them so."""
    return tuple(
        {"name": each["name"], **{count: each.get(count, 0) for count in COUNTS}}
        for each in (jobset.get("status") or {}).get("replicatedJobsStatus") or ()
    )


def _with_times(status: Mapping[str, Any], jobset: Object | None, *, now: datetime) -> Object:
    times: dict[str, str] = {}
    if "startTime" not in status and jobset is not None and _all_run(jobset):
        times["startTime"] = write_time(now)
    if "completionTime" not in status and is_finished(status["conditions"]):
        end = COMPLETE if is_true(status["conditions"], COMPLETE) else FAILED
        times["completionTime"] = next(
            each["lastTransitionTime"] for each in status["conditions"] if each["type"] == end
        )
    return {key: value for key, value in {**status, **times}.items() if value not in ((), [])}


def _all_run(jobset: Object) -> bool:
    """Whether each replicated job has all its pods running, or has had them and is done."""
    counts = {each["name"]: each for each in _counts(jobset)}
    wanted = {
        each["name"]: each.get("replicas", 1) for each in jobset.get("spec", {}).get("replicatedJobs") or ()
    }
    return bool(wanted) and all(
        name in counts and counts[name]["ready"] + counts[name]["succeeded"] >= replicas
        for name, replicas in wanted.items()
    )
