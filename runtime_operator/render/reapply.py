"""Which of a Plan's objects stay as they are, although the Plan has them.

A JobSet that runs is never applied again: its pod templates are immutable, and what somebody changed in a
running JobSet is not reverted. While the job or its JobSet is suspended the JobSet is applied in full, so
that new patches reach it. A PodGroup follows the job alone. Keys are immutable, and a snapshot is never
refreshed. Of a job that is finished nothing is applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..api.names import COMPLETE, FAILED
from .snapshot import SUFFIX

if TYPE_CHECKING:
    from ..api.trainjob import TrainJob
    from .facts import Facts
    from .plan import Object, Plan

Key = tuple[str, str]


def due(plan: Plan, job: TrainJob, facts: Facts) -> tuple[Object, ...]:
    """The objects to apply now, in the plan's order."""
    kept = left_alone(plan, job, facts)
    return tuple(each for each in plan.objects if _key(each) not in kept)


def left_alone(plan: Plan, job: TrainJob, facts: Facts) -> Mapping[Key, str]:
    """The objects that stay as they are, each with the reason."""
    if is_finished(job):
        return {_key(each): "the job is finished" for each in plan.objects}
    kept = {}
    for each in plan.objects:
        held = facts.existing.get(_key(each))
        reason = None if held is None else _reason(each, held, job)
        if reason is not None:
            kept[_key(each)] = reason
    return kept


def is_finished(job: TrainJob) -> bool:
    """Whether the job has reached its end, one way or the other; there is no way back."""
    conditions = job.status.conditions if job.status is not None else ()
    return any(each.get("type") in (COMPLETE, FAILED) and each.get("status") == "True" for each in conditions)


def _reason(wanted: Object, held: Object, job: TrainJob) -> str | None:
    kind, name = _key(wanted)
    if kind == "ConfigMap" and name == job.name + SUFFIX:
        return "a snapshot is never refreshed"
    if kind == "Secret" and wanted.get("immutable"):
        return "keys are made once"
    if job.spec.suspend:
        return None
    if kind == "PodGroup":
        return "the job runs"
    if kind == "JobSet" and not (held.get("spec") or {}).get("suspend"):
        return "it runs"
    return None


def _key(target: Object) -> Key:
    return target["kind"], target["metadata"]["name"]
