"""The conditions of a TrainJob, and the three types there may be.

`Suspended`, `Complete`, `Failed` and no other: the official SDK takes a job without any of them for one
that runs. A condition keeps its time of transition until its status turns, as everywhere in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from .api.names import COMPLETE, FAILED

Condition = Mapping[str, Any]

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def find(conditions: Sequence[Condition], type_: str) -> Condition | None:
    """The condition of that type, if there is one."""
    return next((each for each in conditions if each.get("type") == type_), None)


def is_true(conditions: Sequence[Condition], type_: str) -> bool:
    """Whether there is a condition of that type and it holds."""
    found = find(conditions, type_)
    return found is not None and found.get("status") == "True"


def is_finished(conditions: Sequence[Condition]) -> bool:
    """Whether a TrainJob with these conditions has ended, well or badly."""
    return is_true(conditions, COMPLETE) or is_true(conditions, FAILED)


def condition(type_: str, *, holds: bool, reason: str, message: str, since: str) -> Condition:
    """A condition in the form Kubernetes writes it."""
    return {
        "type": type_,
        "status": "True" if holds else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


def put(conditions: Sequence[Condition], new: Condition) -> tuple[Condition, ...]:
    """The conditions with this one in the place of its type; its time is new only if its status is."""
    old = find(conditions, new["type"])
    if old is None:
        return (*conditions, new)
    if old.get("status") == new["status"] and old.get("lastTransitionTime"):
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return tuple(new if each is old else each for each in conditions)


def read_time(text: str) -> datetime:
    """A time as Kubernetes writes it: RFC 3339, nearly always in UTC."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def write_time(time: datetime) -> str:
    """A time as Kubernetes writes it, to the second."""
    return time.astimezone(UTC).strftime(TIME_FORMAT)
