"""How a list of conditions changes.

A condition that is not there appears only when it becomes true; one that is there keeps its time unless
its status changes. StartupPolicyInProgress and StartupPolicyCompleted exclude one another.
"""

from __future__ import annotations

from dataclasses import replace

from .model import Condition

EXCLUSIVE = {"StartupPolicyInProgress", "StartupPolicyCompleted"}


def with_condition(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """The conditions of a JobSet after one is set; the same object if nothing changes."""
    known = {each.type for each in conditions}
    changed = tuple(_beside(each, new) for each in conditions)
    if new.type not in known and new.status == "True":
        changed = (*changed, new)
    return conditions if changed == conditions else changed


def _beside(old: Condition, new: Condition) -> Condition:
    """An old condition once the new one is set."""
    if old.type == new.type:
        return _renewed(old, new)
    if {old.type, new.type} == EXCLUSIVE and old.status == new.status == "True":
        return replace(old, status="False")
    return old


def _renewed(old: Condition, new: Condition) -> Condition:
    return new if old.status != new.status else replace(new, since=old.since)


def with_job_condition(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """The conditions of a Job after one is set; the same object if nothing changes."""
    for old in conditions:
        if old.type == new.type:
            same = (old.status, old.reason, old.message) == (new.status, new.reason, new.message)
            return conditions if same else tuple(new if c is old else c for c in conditions)
    return (*conditions, new) if new.status == "True" else conditions
