"""What JobSet's webhook fills in before the schema is asked; a wrong shape is left to the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.shapes import at, items, mapping
from .model import Json

NETWORK = {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
RETENTION = {"retentionPolicy": {"whenDeleted": "Delete"}}


def with_defaults(spec: Json) -> Json:
    """The spec of a new JobSet, with defaults."""
    filled: Json = dict(spec)
    filled.setdefault("successPolicy", {"operator": "All"})
    filled.setdefault("startupPolicy", {"startupPolicyOrder": "AnyOrder"})
    _each(filled, "replicatedJobs", lambda _index, job: _job(job))
    if isinstance(filled.setdefault("network", {}), Mapping):
        filled["network"] = NETWORK | filled["network"]
    if at(filled, "failurePolicy").get("rules"):
        filled["failurePolicy"] = dict(filled["failurePolicy"])
        _each(filled["failurePolicy"], "rules", lambda index, rule: _named(rule, index))
    _each(filled, "volumeClaimPolicies", lambda _index, policy: RETENTION | policy)
    return filled


def _each(holder: Json, field: str, change: Any) -> None:
    """Change each item of a list that is a mapping."""
    if items(holder.get(field)):
        holder[field] = [
            change(index, each) if isinstance(each, Mapping) else each
            for index, each in enumerate(holder[field])
        ]


def _named(rule: Mapping[str, Any], index: int) -> Json:
    return {**rule, "name": rule.get("name") or f"failurePolicyRule{index}"}


def _job(replicated_job: Mapping[str, Any]) -> Json:
    """A replicated Job whose pods have indexes and are restarted in place, unless it says otherwise."""
    template = mapping(replicated_job.get("template"))
    job = mapping(template.get("spec"))
    pod = mapping(job.get("template"))
    if not isinstance(pod.get("spec"), Mapping):
        return dict(replicated_job)
    spec = {**pod["spec"], "restartPolicy": pod["spec"].get("restartPolicy") or "OnFailure"}
    mode = job.get("completionMode") or "Indexed"
    job = {**job, "completionMode": mode, "template": {**pod, "spec": spec}}
    return {**replicated_job, "template": {**template, "spec": job}}
