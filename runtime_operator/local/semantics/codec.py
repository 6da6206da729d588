"""A state as JSON and back, so that it can be kept and taken up again by somebody else."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from .model import (
    Backoff,
    Condition,
    Job,
    JobSetStatus,
    JobStatus,
    Json,
    Pod,
    PodReport,
    ReplicatedJobStatus,
    State,
)

BELOW: dict[type, dict[str, type]] = {
    State: {"status": JobSetStatus, "jobs": Job, "pods": Pod},
    JobSetStatus: {"conditions": Condition, "replicated_jobs": ReplicatedJobStatus},
    Job: {"status": JobStatus, "backoff": Backoff},
    JobStatus: {"conditions": Condition},
    Pod: {"report": PodReport},
}
"""What stands in which field, where it is no plain value."""


def to_json(state: State) -> Json:
    """The state as JSON."""
    document: Json = _plain(state)
    return document


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def from_json(document: Json) -> State:
    """The state that was written as this document."""
    state: State = _typed(State, document)
    return state


def _typed(kind: type, document: Json) -> Any:
    below = BELOW.get(kind, {})
    return kind(**{name: _field(below.get(name), value) for name, value in document.items()})


def _field(kind: type | None, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_field(kind, each) for each in value)
    return _typed(kind, value) if kind else value
