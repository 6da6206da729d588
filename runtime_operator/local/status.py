"""The status of a TrainJob, read off the state of its JobSet, as the operator writes it.

Conditions are `Suspended`, `Complete`, `Failed` and no other; terminal is terminal. A job that failed says in
its message who died of what, since that is what a person asks first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .. import conditions
from ..api.legacy import terms
from ..api.names import COMPLETE, FAILED, SUSPENDED, TRAIN_JOB
from ..api.names import REASON_DEADLINE as DEADLINE
from ..api.names import REASON_START_DEADLINE as START_DEADLINE
from .semantics.model import State, true_condition

Json = dict[str, Any]

_COUNTS = ("ready", "succeeded", "failed", "active", "suspended")


def observe(before: Json, state: State, *, cause: str, now: float) -> Json:
    """The status after the last one, from the state of the JobSet; `cause` says what died."""
    status = _with_suspended(before, state, now)
    status["jobsStatus"] = [
        {"name": each.name, **{count: getattr(each, count) for count in _COUNTS}}
        for each in state.status.replicated_jobs
    ]
    if "startTime" not in status and _all_run(state):
        status["startTime"] = rfc3339(now)
    end = state.status.ended
    if end is None or is_finished(status):
        return status
    kind = COMPLETE if end.type == "Completed" else FAILED
    message = f"{end.message}: {cause}" if cause and kind == FAILED else end.message
    return finish(status, kind, reason=end.reason, message=message, now=end.since)


def finish(status: Json, kind: str, *, reason: str, message: str, now: float) -> Json:
    """The status of a job that has ended."""
    fresh = put(status, kind, holds=True, reason=reason, message=message, now=now)
    return {**fresh, "completionTime": rfc3339(now)}


def put(status: Json, kind: str, *, holds: bool, reason: str, message: str, now: float) -> Json:
    """The status with a condition; its time is new only if it turns."""
    new = conditions.condition(kind, holds=holds, reason=reason, message=message, since=rfc3339(now))
    return {**status, "conditions": list(conditions.put(status.get("conditions") or (), new))}


def find(status: Mapping[str, Any], kind: str) -> conditions.Condition | None:
    """The condition of a type, if there is one."""
    return conditions.find(status.get("conditions") or (), kind)


def holds(status: Mapping[str, Any], kind: str) -> bool:
    """Whether a condition is true."""
    return conditions.is_true(status.get("conditions") or (), kind)


def is_finished(status: Mapping[str, Any]) -> bool:
    """Whether the job has ended, well or badly."""
    return conditions.is_finished(status.get("conditions") or ())


def rfc3339(moment: float) -> str:
    """Write a moment as the API does: UTC, whole seconds."""
    return conditions.write_time(datetime.fromtimestamp(moment, UTC))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time, and with which words a job fails that has not come so far by then."""

    at: float
    reason: str
    message: str


def deadline(train_job: Mapping[str, Any], status: Mapping[str, Any], created: float) -> Deadline | None:
    """The next deadline of a job; it counts from its creation, or from the last time it was resumed."""
    if is_finished(status) or holds(status, SUSPENDED):
        return None
    resumed = find(status, SUSPENDED)
    since = created if resumed is None else read_time(resumed["lastTransitionTime"])
    spec, kind = terms(train_job), train_job.get("kind", TRAIN_JOB)
    found = []
    if seconds := spec.get("activeDeadlineSeconds"):
        found.append(Deadline(since + seconds, DEADLINE, f"{kind} exceeded its active deadline"))
    if (seconds := spec.get("startDeadlineSeconds")) and "startTime" not in status:
        message = f"TrainJob did not get all its pods running within {seconds} s"
        found.append(Deadline(since + seconds, START_DEADLINE, message))
    return min(found, key=lambda each: each.at, default=None)


def expires(train_job: Mapping[str, Any], status: Mapping[str, Any]) -> float | None:
    """When a job that has ended is to be deleted; None if it stays until a person deletes it."""
    seconds = terms(train_job).get("ttlSecondsAfterFinished")
    if seconds is None or "completionTime" not in status:
        return None
    return read_time(status["completionTime"]) + float(seconds)


def read_time(text: str) -> float:
    """A moment as the API writes it, in seconds."""
    return conditions.read_time(text).timestamp()


def _with_suspended(status: Json, state: State, now: float) -> Json:
    if state.suspended:
        text = "TrainJob is suspended"
        return put(status, SUSPENDED, holds=True, reason="Suspended", message=text, now=now)
    if holds(status, SUSPENDED):
        return put(status, SUSPENDED, holds=False, reason="Resumed", message="TrainJob is resumed", now=now)
    return dict(status)


def _all_run(state: State) -> bool:
    """Whether each replicated Job has all its pods running, or has had them and is done."""
    wanted = {each["name"]: int(each.get("replicas", 1)) for each in state.replicated_jobs}
    counts = {each.name: each for each in state.status.replicated_jobs}
    return bool(counts) and all(
        name in counts and counts[name].ready + counts[name].succeeded >= replicas
        for name, replicas in wanted.items()
    )


def jobset_status(state: State) -> Json:
    """The JobSet's own status, for a person who looks closer."""
    return {
        "restarts": state.status.restarts,
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in state.status.conditions
        ],
        "terminalState": state.status.terminal_state,
        "failed": true_condition(state.status.conditions, "Failed") is not None,
    }
