"""What is to be written so that what is there becomes what is wanted: pure, for one look at a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...render.legacy.parts import Layout
from .decide import Wanted
from .foreign import is_owned

Json = Mapping[str, Any]
Existing = Mapping[tuple[str, str], Json]
"""by kind and name, whosever they are"""

REMOVED = ("Service", "PodGroup", "HorizontalPodAutoscaler")
"""kinds of objects that go before the job does"""
LATER = ("Service", "HorizontalPodAutoscaler", "Role", "RoleBinding")
"""kinds that no pod needs in order to start; a launcher of MPI waits for its rights"""


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do, in this order."""

    apply: tuple[Json, ...]
    """to be there, as the plan orders them; what is there already need not be written"""
    later: tuple[Json, ...]
    """the same, of what pods look for when they run: their names"""
    held: frozenset[str]
    """Jobs that are to have a parallelism of 0; all others have 1"""
    delete: tuple[Json, ...]


def changes(layout: Layout, planned: Sequence[Json], wanted: Wanted, existing: Existing) -> Changes:
    """Compare a plan and a decision with what there is."""
    kept = set(_kept(layout, wanted))
    places = {layout.job_name(part, index): (part.role.name, index) for part, index in layout.places()}
    held = {name for name, place in places.items() if place in wanted.held}
    own = {place: each for place, each in existing.items() if is_owned(each, layout.job)}
    stays = {each["metadata"]["name"] for each in planned if wanted.jobset != "goes"}
    there = [
        _resting(each, wanted)
        for each in planned
        if _is_wanted(each, wanted, kept) and (wanted.renews or _is_jobset_of(own, each))
    ]
    return Changes(
        apply=tuple(each for each in there if each["kind"] not in LATER),
        later=tuple(each for each in there if each["kind"] in LATER),
        held=frozenset(held.union(layout.idle())),
        delete=tuple(
            each
            for (kind, name), each in own.items()
            if (kind in REMOVED and (kind, name) not in kept) or (kind == "JobSet" and name not in stays)
        ),
    )


def _is_wanted(target: Json, wanted: Wanted, kept: set[tuple[str, str]]) -> bool:
    kind = target["kind"]
    if kind == "JobSet":
        return wanted.jobset != "goes"
    return kind not in REMOVED or (kind, target["metadata"]["name"]) in kept


def _is_jobset_of(own: Existing, target: Json) -> bool:
    return target["kind"] == "JobSet" and ("JobSet", target["metadata"]["name"]) in own


def _resting(target: Json, wanted: Wanted) -> Json:
    if target["kind"] != "JobSet" or wanted.jobset != "rests":
        return target
    return {**target, "spec": {**target["spec"], "suspend": True}}


def _kept(layout: Layout, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """The objects that stay, of those that may go while the job is there."""
    name = layout.job.name
    for part, index in layout.places():
        if wanted.services is None or (part.role.name, index) in wanted.services:
            yield "Service", layout.host(part.role, index)
    if wanted.pod_group:
        yield "PodGroup", name
    if wanted.autoscaler:
        yield "HorizontalPodAutoscaler", name
