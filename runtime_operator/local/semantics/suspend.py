"""spec.suspend: Jobs keep what they have done, and have no pods until they are resumed.

While suspended a template may get other labels, annotations, node selectors, tolerations and scheduling
gates (a queue says so where to run); the Jobs get them when they are resumed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from . import startup_policy
from .actions import Action, UpdateJob
from .draft import Draft
from .model import Job, Json, ReplicatedJobStatus, State
from .owned import Owned, parent

MERGED_MAPS = (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector"))
MERGED_LISTS = ("tolerations", "schedulingGates")


def suspend(owned: Owned, draft: Draft) -> Iterator[Action]:
    """Suspend every Job that is not yet."""
    for job in owned.active:
        if not job.suspended:
            manifest = {**job.manifest, "spec": {**job.spec, "suspend": True}}
            yield UpdateJob(job.uid, manifest)
    draft.set("Suspended", "True", "SuspendedJobs", "jobset is suspended")
    draft.set("RestartingJobSet", "False", "JobSetSuspended", "jobset is suspended")


def resume(
    state: State, owned: Owned, counts: Mapping[str, ReplicatedJobStatus], draft: Draft
) -> Iterator[Action]:
    """Resume the Jobs that are suspended, in the order of dependsOn and startupPolicy."""
    in_order = startup_policy.is_in_order(state)
    for replicated_job in startup_policy.whose_turn(state, counts, in_order=in_order):
        for job in owned.active:
            if parent(job) == replicated_job["name"] and job.suspended:
                yield _resumed(job, replicated_job)
        if in_order:
            startup_policy.say_in_progress(draft)
            return
    draft.set("Suspended", "False", "ResumeJobs", "jobset is resumed")


def _resumed(job: Job, replicated_job: Json) -> UpdateJob:
    """The Job with what its template was given meanwhile; its time begins anew."""
    template = copy.deepcopy(job.spec["template"])
    wanted = replicated_job["template"]["spec"].get("template") or {}
    for part, key in MERGED_MAPS:
        _put(template, part, key, _part(template, part, key) | _part(wanted, part, key))
    for key in MERGED_LISTS:
        have = list(_part(template, "spec", key) or ())
        new = [each for each in _part(wanted, "spec", key) or () if each not in have]
        _put(template, "spec", key, have + new)
    manifest = {**job.manifest, "spec": {**job.spec, "template": template, "suspend": False}}
    return UpdateJob(job.uid, manifest, forget_start=True)


def _part(template: Json, part: str, key: str) -> Any:
    return (template.get(part) or {}).get(key) or {}


def _put(template: Json, part: str, key: str, value: Any) -> None:
    if value:
        template[part][key] = value
