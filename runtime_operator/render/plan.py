"""What a TrainJob becomes: a frozen value that says everything and does nothing.

A Plan is made by `render` from a job, its runtime and a few facts. Whoever executes it (the operator on
a cluster, `local` on one machine) applies `objects` in their order; everything else is there to explain,
to schedule by and to warn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one kind: one replicated job of the JobSet."""

    name: str
    step: str
    """dataset-initializer, model-initializer, trainer, or empty"""
    count: int
    requests: Mapping[str, str]
    """what one pod asks for; a limit stands in where no request is given"""
    wave: int
    """pods of one wave exist at the same time; every dependsOn edge starts a new one"""


@dataclass(frozen=True, slots=True)
class Gang:
    """The pods that must be placed all at once or not at all."""

    scheduler: str
    """volcano or coscheduling"""
    pod_sets: tuple[str, ...]
    min_member: int
    min_resources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice render made, where its effect stands, and the reason."""

    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The objects of a TrainJob in apply order, and why they are what they are."""

    objects: tuple[Object, ...]
    pod_sets: tuple[PodSet, ...]
    gang: Gang | None
    endpoints: Mapping[str, tuple[str, ...]]
    """host names of the pods, by pod set"""
    warnings: tuple[str, ...]
    decisions: tuple[Decision, ...]
