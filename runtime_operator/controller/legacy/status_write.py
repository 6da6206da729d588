"""What of a status is written, and how long it may wait.

Conditions and times are written at once, for programs wait for them. Counts of replicas change with every
pod and wait a moment for each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

COUNTS = "replicaStatuses"
COUNTS_WAIT = 2.0
APART = 5.0  # seconds between two writes of counts alone


def change_of(old: Any, new: Any) -> dict[str, Any]:
    """The merge patch that makes the one the other: at every depth what differs, None where one is to go."""
    gone: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    changed = {
        key: change_of(old[key], value) if _are_maps(old.get(key), value) else value
        for key, value in new.items()
        if key not in old or old[key] != value
    }
    return {**gone, **changed}


def due(change: Json, *, now: float, since: float, written_at: float) -> float:
    """When a change is to be written that was first seen then, while another was written then."""
    if any(key != COUNTS for key in change):
        return now
    return max(since + COUNTS_WAIT, written_at + APART)


def _are_maps(*values: Any) -> bool:
    return all(isinstance(each, Mapping) for each in values)
