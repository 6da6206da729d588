"""The status of a TrainJob, read off its JobSet.

`jobsStatus` counts as the JobSet counts. The end is what a plug-in reads off the job's objects, reason and
message included; that of the JobSet in most jobs. What a TrainJob once said about its end stays, whatever
becomes of the JobSet: a TTL may delete it, a person may, and the job has ended all the same. `startTime` is
when all its pods ran for the first time (of an elastic gang as many as it asks for), `completionTime` when
it ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..api.names import COMPLETE, FAILED, REASON_RESUMED, REASON_SUSPENDED, SUSPENDED
from ..conditions import Condition, condition, is_finished, is_true, put, write_time
from ..render.framework import Terminal
from ..render.plan import Object
from .counts import counts, not_running
from .ownership import is_suspended


def observe(
    job: Object, jobset: Object | None, gang: Object | None, end: Terminal | None, *, now: datetime
) -> Object:
    """The status that follows from the last one, the job's own JobSet and gang, and the end that is told."""
    status = job.get("status") or {}
    conditions = _with_suspended(status.get("conditions") or (), job, now=now)
    seen: dict[str, Any] = {**status, "conditions": conditions}
    if jobset is None and not is_finished(conditions):
        seen.pop("jobsStatus", None)  # whatever was counted is no more
    elif jobset is not None:
        seen["jobsStatus"] = counts(jobset)
    if end is not None and not is_finished(conditions):
        seen["conditions"] = _with_end(conditions, end, now=now)
    runs = jobset is not None and bool(counts(jobset)) and not not_running(jobset, gang)
    return _with_times(seen, runs=runs, now=now)


def fail(status: Object, *, reason: str, message: str, now: datetime) -> Object:
    """The status of a job that we end ourselves."""
    ended = condition(FAILED, holds=True, reason=reason, message=message, since=write_time(now))
    return _with_times(
        {**status, "conditions": put(status.get("conditions") or (), ended)}, runs=False, now=now
    )


def _with_suspended(conditions: Sequence[Condition], job: Object, *, now: datetime) -> tuple[Condition, ...]:
    """`Suspended` once the job was asked to rest; a job that never was has no such condition."""
    if is_suspended(job):
        reason, message = REASON_SUSPENDED, "TrainJob is suspended"
    elif is_true(conditions, SUSPENDED):
        reason, message = REASON_RESUMED, "TrainJob is resumed"
    else:
        return tuple(conditions)
    holds, since = is_suspended(job), write_time(now)
    return put(conditions, condition(SUSPENDED, holds=holds, reason=reason, message=message, since=since))


def _with_end(conditions: Sequence[Condition], end: Terminal, *, now: datetime) -> tuple[Condition, ...]:
    since = end.last_transition_time or write_time(now)
    return put(
        conditions, condition(end.type, holds=True, reason=end.reason, message=end.message, since=since)
    )


def _with_times(status: Mapping[str, Any], *, runs: bool, now: datetime) -> Object:
    times: dict[str, str] = {}
    if runs and "startTime" not in status:
        times["startTime"] = write_time(now)
    if "completionTime" not in status and is_finished(status["conditions"]):
        end = COMPLETE if is_true(status["conditions"], COMPLETE) else FAILED
        times["completionTime"] = next(
            each["lastTransitionTime"] for each in status["conditions"] if each["type"] == end
        )
    return {key: value for key, value in {**status, **times}.items() if value not in ((), [])}
