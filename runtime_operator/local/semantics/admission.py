"""What a JobSet is after admission, or why it is refused: the schema, JobSet's webhook, then this machine.

As on a cluster the schema speaks first, and alone if it has anything to say; so does the webhook after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import FieldError
from ...render.jobset_rules import check_jobset
from . import schema
from .model import Json
from .unsupported import refuse_unsupported


@dataclass(frozen=True, slots=True)
class Admitted:
    """A JobSet as it is stored, or why it is not."""

    jobset: Json
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def admit(jobset: Json) -> Admitted:
    """Admit a new JobSet: defaults filled in, everything wrong with it named."""
    given = jobset.get("spec") or {}
    spec, unknown = schema.stored(given)
    warnings = tuple(f'unknown field "{path}"' for path in unknown)
    errors = tuple(schema.faults(spec))
    if errors:
        return Admitted({**jobset, "spec": spec}, errors, warnings)
    admitted = {**jobset, "spec": with_defaults(spec)}
    errors = (*_empty_dependency(spec), *check_jobset(admitted))
    return Admitted(admitted, errors or refuse_unsupported(admitted), warnings)


def admit_change(old: Json, new: Json) -> Admitted:
    """Admit a change of a JobSet that exists: suspend, resume, a ttl, what a queue may set."""
    spec, unknown = schema.stored(new.get("spec") or {})
    changed = {**new, "spec": spec}
    warnings = tuple(f'unknown field "{path}"' for path in unknown)
    errors = tuple(schema.faults(spec, old["spec"])) or check_jobset(changed, old=old)
    return Admitted(changed, errors or refuse_unsupported(changed), warnings)


def with_defaults(spec: Json) -> Json:
    """The spec of a new JobSet with what JobSet's webhook fills in."""
    filled: dict[str, Any] = dict(spec)
    filled["successPolicy"] = spec.get("successPolicy") or {"operator": "All"}
    filled["startupPolicy"] = spec.get("startupPolicy") or {"startupPolicyOrder": "AnyOrder"}
    network = {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    filled["network"] = network | (spec.get("network") or {})
    filled["replicatedJobs"] = [_with_job_defaults(each) for each in spec.get("replicatedJobs") or []]
    if (spec.get("failurePolicy") or {}).get("rules"):
        rules = spec["failurePolicy"]["rules"]
        named = [each | {"name": each.get("name") or f"failurePolicyRule{i}"} for i, each in enumerate(rules)]
        filled["failurePolicy"] = {**spec["failurePolicy"], "rules": named}
    if spec.get("volumeClaimPolicies"):
        kept = {"retentionPolicy": {"whenDeleted": "Delete"}}
        filled["volumeClaimPolicies"] = [kept | each for each in spec["volumeClaimPolicies"]]
    return filled


def _with_job_defaults(replicated_job: Json) -> Json:
    job = dict(replicated_job["template"].get("spec") or {})
    job["completionMode"] = job.get("completionMode") or "Indexed"
    pod = dict(job.get("template") or {})
    pod["spec"] = {**(pod.get("spec") or {})}
    pod["spec"]["restartPolicy"] = pod["spec"].get("restartPolicy") or "OnFailure"
    job["template"] = pod
    return {**replicated_job, "template": {**replicated_job["template"], "spec": job}}


def _empty_dependency(spec: Json) -> Iterator[FieldError]:
    """An empty list on the first replicated Job is refused as a full one is."""
    first = next(iter(spec.get("replicatedJobs") or []), {})
    if first.get("dependsOn") == []:
        yield FieldError("", "DependsOn can't be set for the first ReplicatedJob", "InternalError")
