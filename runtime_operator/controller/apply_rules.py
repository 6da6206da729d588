"""Which objects of a plan are to be applied, given what exists.

A running job keeps what it runs with: its JobSet and PodGroup are left alone until it rests, when JobSet
allows a change again. What is immutable (keys) and the snapshot of the runtime are made once. Everything
else is applied as the plan has it; whoever applies skips what is equal already. An object of a namesake is
never touched, and of a job that another controller runs nothing is applied at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..render.plan import Object
from ..render.snapshot import is_snapshot
from .ownership import is_managed_elsewhere, is_ours, is_suspended

Existing = Mapping[tuple[str, str], Object]


def to_apply(objects: Sequence[Object], job: Object, existing: Existing) -> tuple[Object, ...]:
    """The objects to apply now, in the order of the plan."""
    if is_managed_elsewhere(job):
        return ()
    return tuple(each for each in objects if not _is_left_alone(each, job, existing_like(each, existing)))


def existing_like(document: Object, existing: Existing) -> Object | None:
    """The object of the same kind, API group and name, if it exists."""
    found = existing.get((document["kind"], document["metadata"]["name"]))
    return found if found is not None and _group(found) == _group(document) else None


def _is_left_alone(wanted: Object, job: Object, old: Object | None) -> bool:
    if old is None:
        return False
    if not is_ours(old, job):
        return True
    if wanted["kind"] == "JobSet":
        return not is_suspended(job) and not is_suspended(old)
    if wanted["kind"] == "PodGroup":
        return not is_suspended(job)
    return bool(wanted.get("immutable")) or is_snapshot(wanted)


def _group(document: Object) -> str:
    """The API group, without the version: schedulers both have a kind PodGroup."""
    return str(document["apiVersion"]).rpartition("/")[0]
