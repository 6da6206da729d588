"""Where a job says how it runs and ends: a TrainJob in its spec, an older kind in its runPolicy.

Both call the terms alike: suspend, activeDeadlineSeconds, ttlSecondsAfterFinished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shapes import at
from .kinds import kind_of


def terms(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the terms of a stored job of any kind."""
    return at(job, "spec") if kind_of(job) is None else at(job, "spec", "runPolicy")


def without_rest(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a stored job as if it said nothing of being suspended."""
    spec = at(job, "spec")
    if kind_of(job) is None:
        return {**spec, "suspend": None}
    return {**spec, "runPolicy": {**at(spec, "runPolicy"), "suspend": None}}
