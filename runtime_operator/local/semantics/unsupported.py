"""What a JobSet may hold that is not done on one machine, refused by name before anything starts.

Some of it a cluster does and one machine cannot (topologies, other controllers for the Jobs), some a
cluster admits though it can never go well (no replicated Jobs, a dependency on itself, a Job that the API
server would refuse). Placement that any machine satisfies (node selectors, tolerations, affinity) passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.paths import FORBIDDEN, REQUIRED
from ...errors import FieldError
from . import job_rules
from .labels import EXCLUSIVE, replicas_of
from .model import Json

JOB_FIELDS = {
    "managedBy": "another controller cannot run a Job of a JobSet here; remove it",
    "manualSelector": "the pods of a Job are found by its name; remove it",
    "selector": "the pods of a Job are found by its name; remove it",
    "ttlSecondsAfterFinished": (
        "a Job that is deleted when it has finished is run again, without end; "
        "set spec.ttlSecondsAfterFinished of the JobSet"
    ),
}
POD_FIELDS = {
    "activeDeadlineSeconds": "a pod has no deadline of its own here; set activeDeadlineSeconds of the Job",
    "ephemeralContainers": "nobody attaches containers here; remove them",
    "resourceClaims": "there is no dynamic resource allocation on one machine; ask for limits",
    "schedulingGates": "nobody lifts a gate on one machine; remove them, or suspend the JobSet",
}


def refuse_unsupported(jobset: Json) -> tuple[FieldError, ...]:
    """Everything in an admitted JobSet for which it is not run here."""
    return tuple(_faults(jobset))


def _faults(jobset: Json) -> Iterator[FieldError]:
    spec = jobset["spec"]
    yield from _topology(jobset, "metadata")
    if not spec.get("replicatedJobs"):
        yield FieldError("spec.replicatedJobs", "is empty, so nothing would ever run; give one", REQUIRED)
    restarts = (spec.get("failurePolicy") or {}).get("maxRestarts", 0)
    if restarts < 0:
        yield FieldError("spec.failurePolicy.maxRestarts", f"must be 0 or more, got {restarts}")
    for index, replicated_job in enumerate(spec.get("replicatedJobs") or []):
        yield from _replicated_job(replicated_job, f"spec.replicatedJobs[{index}]")


def _replicated_job(replicated_job: Json, path: str) -> Iterator[FieldError]:
    name = replicated_job["name"]
    if any(each["name"] == name for each in replicated_job.get("dependsOn") or []):
        yield FieldError(f"{path}.dependsOn", f"{name} waits for itself, so for ever")
    if replicas_of(replicated_job) < 0:
        yield FieldError(f"{path}.replicas", f"must be 0 or more, got {replicated_job['replicas']}")
    template = replicated_job["template"]
    yield from _topology(template, f"{path}.template.metadata")
    spec = template.get("spec") or {}
    yield from _named(spec, JOB_FIELDS, f"{path}.template.spec")
    pod = (spec.get("template") or {}).get("spec") or {}
    yield from _named(pod, POD_FIELDS, f"{path}.template.spec.template.spec")
    yield from job_rules.faults(spec, f"{path}.template.spec")


def _topology(thing: Json, path: str) -> Iterator[FieldError]:
    if EXCLUSIVE in ((thing.get("metadata") or {}).get("annotations") or {}):
        detail = "one machine is one topology; remove the annotation"
        yield FieldError(f"{path}.annotations[{EXCLUSIVE}]", detail, FORBIDDEN)


def _named(thing: Json, fields: dict[str, str], path: str) -> Iterator[FieldError]:
    for field, why in fields.items():
        if thing.get(field) is not None and thing[field] is not False and thing[field] != []:
            yield FieldError(f"{path}.{field}", why, FORBIDDEN)
