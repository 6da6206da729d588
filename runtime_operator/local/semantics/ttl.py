"""The JobSet's ttlSecondsAfterFinished, counted from the end."""

from __future__ import annotations

from .model import State


def expires(state: State) -> float | None:
    """When the JobSet is to be deleted, once it has ended and has a time to live."""
    ended, seconds = state.status.ended, state.spec.get("ttlSecondsAfterFinished")
    if ended is None or seconds is None:
        return None
    return ended.since + float(seconds)
