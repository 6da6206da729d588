"""A verdict in the words of an API server, which says all mistakes in one sentence."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from typing import Any

from kfp_trainer.runtime_operator.api.shapes import mapping
from kfp_trainer.runtime_operator.errors import FieldError
from kfp_trainer.runtime_operator.local.semantics import Admitted
from kfp_trainer.runtime_operator.render.jobset_rules import longest_names

from .go_json import go_json, unreadable

PREFIXES = {
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueRequired": "Required value",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "FieldValueTypeInvalid": "Invalid value",
    "InternalError": "Internal error",
}
WITH_VALUE = {"FieldValueInvalid", "FieldValueNotSupported", "FieldValueDuplicate", "FieldValueTypeInvalid"}
OF_A_RULE = {"Value is immutable", "StartupPolicy and DependsOn APIs are mutually exclusive"}
MAY_CHANGE = {
    "metadata": ("annotations", "labels"),
    "spec": ("nodeSelector", "tolerations", "schedulingGates"),
}
SUPPORTED = "supported values: "
"""what rules of the schema say; the value is not told with them"""


def verdict(admitted: Admitted, old: dict[str, Any] | None = None) -> dict[str, Any]:
    """A verdict as the cases have it, on a new JobSet or on a change of an old one."""
    said: dict[str, Any] = {"allowed": not admitted.errors}
    if admitted.warnings:
        said["warnings"] = list(admitted.warnings)
    if admitted.errors:
        told = _without_what_may_change(admitted.jobset, old) if old else admitted.jobset
        said["message"] = message(told, admitted.errors, new=old is None)
    return said


def _without_what_may_change(jobset: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """The JobSet as a message shows it: of a suspended one, what may change is as it was."""
    if not (jobset["spec"].get("suspend") or old["spec"].get("suspend")):
        return jobset
    shown = copy.deepcopy(jobset)
    before = {job["name"]: job for job in old["spec"]["replicatedJobs"]}
    for job in shown["spec"]["replicatedJobs"]:
        if job["name"] in before:
            pods = [copy.copy(each["template"]["spec"]["template"]) for each in (job, before[job["name"]])]
            for part, names in MAY_CHANGE.items():
                new, kept = (pod.setdefault(part, {}) for pod in pods)
                new |= {name: kept.get(name) for name in names}
    return shown


def message(jobset: dict[str, Any], errors: Sequence[FieldError], *, new: bool) -> str:
    """The sentence with which a JobSet is refused; what the first webhook cannot read it refuses alone."""
    unread = unreadable("JobSetSpec", mapping(jobset["spec"]), "spec")
    if unread and new:
        return unread
    each = list(dict.fromkeys(_one(jobset, error) for error in errors))
    listed = each[0] if len(each) == 1 else f"[{', '.join(each)}]"
    return f'JobSet.jobset.x-k8s.io "{jobset["metadata"]["name"]}" is invalid: {listed}'


def _one(jobset: dict[str, Any], error: FieldError) -> str:
    prefix, detail = PREFIXES[error.type], error.detail
    if detail.startswith(SUPPORTED):
        detail = SUPPORTED + ", ".join(sorted(detail.removeprefix(SUPPORTED).split(", ")))
    if error.type in WITH_VALUE and error.detail not in OF_A_RULE:
        prefix = f"{prefix}: {_value(jobset, error.field, error.type, detail)}"
    return ": ".join(part for part in (error.field or "<nil>", prefix, detail) if part)


def _value(jobset: dict[str, Any], path: str, kind: str, detail: str) -> str:
    """The value that is told: what stands there, or the longest name that comes of it."""
    if path == "spec.managedBy":
        domain, _, rest = str(_at(jobset, path)).partition("/")
        return json.dumps(
            rest
            if detail.startswith("Invalid path")
            else domain
            if "subdomain" in detail
            else _at(jobset, path)
        )
    named = re.fullmatch(r"spec\.replicatedJobs\[(\d+)\]\.name", path)
    if path == "spec.replicatedJobs":
        return go_json("ReplicatedJob", jobset["spec"]["replicatedJobs"])
    if named:
        job = jobset["spec"]["replicatedJobs"][int(named[1])]
        return json.dumps(longest_names(jobset["metadata"]["name"], job)[0])
    if kind == "FieldValueTypeInvalid":
        return detail.rsplit(" ", 1)[-1]
    value = _at(jobset, path) if path else None
    if kind == "FieldValueDuplicate" and isinstance(value, dict):
        value = {"name": value["name"]}
    return json.dumps(value, separators=(",", ":"))


def _at(document: Any, path: str) -> Any:
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            document = document[int(index)] if index else document[key]
        except (KeyError, IndexError, TypeError):
            return None
    return document
