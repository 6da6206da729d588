"""What a TrainJob becomes: a frozen value that says everything and does nothing.

A Plan is made by `render` from a job, its runtime and a few facts. Whoever executes it (the operator on
a cluster, `local` on one machine) applies `objects` in their order; everything else is there to explain,
to schedule by and to warn. What is only read by people (decisions, pod sets, endpoints) is made when it
is first read: an operator that renders thousands of jobs never pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

Object = Mapping[str, Any]
RawDecision = tuple[str, object, str, tuple[object, ...]]


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


class Told(Protocol):
    """Whoever made a plan, and can tell the rest of it when asked."""

    gang: Gang | None
    warnings: list[str]
    decisions: list[RawDecision]

    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pods."""

    def endpoints(self) -> Mapping[str, tuple[str, ...]]:
        """The host names."""


class Plan:
    """The objects of a TrainJob in apply order, and why they are what they are."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, objects: tuple[Object, ...], told: Told) -> None:
        self.objects = objects
        self.gang = told.gang
        self._told = told

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know although the job can run."""
        return tuple(dict.fromkeys(self._told.warnings))

    @cached_property
    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pod sets in the order of the replicated jobs."""
        return self._told.pod_sets()

    @cached_property
    def endpoints(self) -> Mapping[str, tuple[str, ...]]:
        """Host names of the pods, by pod set."""
        return self._told.endpoints()

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The choices that were made, in the order in which they were made."""
        return tuple(
            Decision(field, str(value), reason % args if args else reason)
            for field, value, reason, args in self._told.decisions
        )

    def find(self, kind: str, name: str | None = None) -> Object | None:
        """The object of this kind (and name), if the plan has one."""
        for each in self.objects:
            if each["kind"] == kind and name in (None, each["metadata"]["name"]):
                return each
        return None

    def __eq__(self, other: object) -> bool:
        """Plans are equal when they say the same, not when they are the same value."""
        return isinstance(other, Plan) and all(
            getattr(self, part) == getattr(other, part)
            for part in ("objects", "gang", "warnings", "decisions", "pod_sets", "endpoints")
        )

    def __repr__(self) -> str:
        names = ", ".join(f"{each['kind']}/{each['metadata']['name']}" for each in self.objects)
        return f"Plan({names})"
