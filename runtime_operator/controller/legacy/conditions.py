"""The conditions of v1: the newest stands last, and some put others out.

Beside the time of the last transition v1 keeps one of the last update. Nothing changes once Failed is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...conditions import is_true

CREATED, RUNNING, RESTARTING = "Created", "Running", "Restarting"
SUSPENDED, SUCCEEDED, FAILED = "Suspended", "Succeeded", "Failed"
Condition = Mapping[str, Any]
_PUTS_OUT = {RESTARTING: RUNNING, RUNNING: RESTARTING}


def is_finished(conditions: Sequence[Condition]) -> bool:
    """Tell whether the job has ended, well or badly."""
    return is_true(conditions, SUCCEEDED) or is_true(conditions, FAILED)


def put(
    conditions: Sequence[Condition], type_: str, *, reason: str, message: str, now: str, holds: bool = True
) -> list[Condition]:
    """Return the conditions with this one as the newest; the same once more changes nothing."""
    status = "True" if holds else "False"
    old = next((each for each in conditions if each["type"] == type_), None)
    if is_true(conditions, FAILED) or (old and (old["status"], old["reason"]) == (status, reason)):
        return list(conditions)
    kept = [each for each in conditions if each["type"] not in (type_, _PUTS_OUT.get(type_))]
    if type_ in (SUCCEEDED, FAILED):
        kept = [_ended(each, now) for each in kept]
    new = {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastUpdateTime": now,
        "lastTransitionTime": old["lastTransitionTime"] if old and old["status"] == status else now,
    }
    return [*kept, new]


def _ended(condition: Condition, now: str) -> Condition:
    if condition["type"] != RUNNING or condition["status"] == "False":
        return condition
    return {**condition, "status": "False", "lastUpdateTime": now, "lastTransitionTime": now}
