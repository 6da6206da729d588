"""What of a JobSet may change once it exists.

JobSet freezes everything about its jobs but five things of the pod template, and those only while the JobSet
is suspended before or after. Its policies are frozen by rules of the schema that compare only what stands in
both versions. Both sides are brought to one form first: a default that is written out, an empty list or
another spelling of a quantity is no change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError
from .quantity import read

Object = Mapping[str, Any]

FROZEN = ("failurePolicy", "network", "startupPolicy", "successPolicy", "volumeClaimPolicies")
MUTABLE_METADATA = ("annotations", "labels")
MUTABLE_SPEC = ("nodeSelector", "tolerations", "schedulingGates")
_AMOUNTS = frozenset({"limits", "requests", "overhead", "capacity"})
_DEFAULTS: Mapping[str, Any] = {
    "groupName": "default",
    "completionMode": "Indexed",
    "restartPolicy": "OnFailure",
    "restartStrategy": "Recreate",
    "protocol": "TCP",
}
"""what the schema and the webhook write into a job when it is created"""
_POLICY_DEFAULTS: Mapping[str, Object] = {
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "successPolicy": {"operator": "All"},
    "failurePolicy": {"maxRestarts": 0},
}


def check(old: Object, new: Object) -> Iterator[FieldError]:
    """Find the changes between two specs of one JobSet that JobSet refuses."""
    for field in FROZEN:
        before, after = (_policy(field, spec.get(field)) for spec in (old, new))
        if before and after and before != after:
            yield FieldError(f"spec.{field}", "Value is immutable")
    loose = bool(old.get("suspend") or new.get("suspend"))
    before, after = (
        [_frozen(job, loose=loose) for job in spec.get("replicatedJobs") or []] for spec in (old, new)
    )
    if before != after:
        yield FieldError("spec.replicatedJobs", "field is immutable")
    if old.get("managedBy") != new.get("managedBy"):
        yield FieldError("spec.managedBy", "field is immutable")


def changes(old: Object, new: Object) -> list[str]:
    """Name what differs between two specs of a JobSet and may not, as in `node.volumes`."""
    loose = bool(old.get("suspend") or new.get("suspend"))
    before, after = (
        {job["name"]: _parts(_frozen(job, loose=loose)) for job in spec.get("replicatedJobs") or []}
        for spec in (old, new)
    )
    named: list[str] = []
    for job in dict.fromkeys((*before, *after)):
        one, other = before.get(job, {}), after.get(job, {})
        named += [
            f"{job}.{part}" for part in dict.fromkeys((*one, *other)) if one.get(part) != other.get(part)
        ]
    return named


def _parts(job: dict[str, Any]) -> dict[str, Any]:
    """Lay the fields of a job, its Job and its pods side by side."""
    template = job.pop("template", {})
    spec = template.pop("spec", {})
    pod = spec.pop("template", {})
    return {**job, **template, **spec, **pod.pop("spec", {}), **pod}


def _policy(field: str, value: Any) -> Any:
    if not value:
        return None
    if isinstance(value, Mapping):
        value = {**_POLICY_DEFAULTS.get(field, {}), **value}
    return _normal(value)


def _frozen(job: Object, *, loose: bool) -> dict[str, Any]:
    """Bring a job to the normal form, without what may change."""
    normal: dict[str, Any] = _normal(job)
    if loose:
        pod = normal.get("template", {}).get("spec", {}).get("template", {})
        for part, fields in (("metadata", MUTABLE_METADATA), ("spec", MUTABLE_SPEC)):
            kept = {key: value for key, value in pod.pop(part, {}).items() if key not in fields}
            pod |= {part: kept} if kept else {}
    return normal


def _normal(value: Any, key: str = "") -> Any:
    """Copy a value without what is empty or a default, and with quantities in one spelling."""
    if isinstance(value, Mapping):
        if key in _AMOUNTS:
            return {name: str(read(amount)) for name, amount in value.items()}
        entries = ((name, _normal(each, name)) for name, each in value.items())
        return {name: each for name, each in entries if not _is_default(name, each)}
    if isinstance(value, list):
        return [_normal(each) for each in value]
    return value


def _is_default(name: str, value: Any) -> bool:
    return value in (None, "", [], {}) or _DEFAULTS.get(name) == value or (name == "replicas" and value == 1)
