"""A pod as its user sees it: what a container gets, and of what JobSet and Job controllers add nothing.

Pods are told by their place, under the name that v1 gave them: the real one ends in random letters. Field
references that JobSet's labels answer are resolved, and the variable that only carries a number into a text
is left out (docs/deviations.md, Older kinds).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LegacyJob, Role
from kfp_trainer.runtime_operator.local.semantics.model import Pod
from kfp_trainer.runtime_operator.render.legacy.pods import replica_labels
from kfp_trainer.runtime_operator.render.legacy.values import INDEX_VARIABLE

Json = Mapping[str, Any]
CONTROLLERS = ("jobset.sigs.k8s.io/", "batch.kubernetes.io/", "kfp-trainer/", "controller-uid", "job-name")
"""whose labels and annotations v1's pods do not have"""
LABEL = re.compile(r"metadata\.labels\['(.+)'\]")


def place_name(job: LegacyJob, role: Role, index: int) -> str:
    """The name of a pod in v1."""
    return f"{job.name}-{role.lower}" + ("" if role.name == "Launcher" else f"-{index}")


def seen_pod(pod: Pod, job: LegacyJob, role: Role, index: int, attempt: int) -> dict[str, Any]:
    """Tell of a pod."""
    metadata, spec = pod.manifest["metadata"], dict(pod.manifest["spec"])
    spec.pop("hostname", None)  # of v1's pods it is their name
    spec["containers"] = [_container(each, metadata, spec) for each in spec["containers"]]
    return {
        "role": role.lower,
        "index": index,
        "name": place_name(job, role, index),
        "phase": pod.report.phase,
        "incarnation": attempt + 1,
        "labels": {**_own(metadata.get("labels")), **replica_labels(job, role, index)},
        "annotations": _own(metadata.get("annotations")),
        **spec,
    }


def _own(values: Json | None) -> dict[str, str]:
    return {name: value for name, value in (values or {}).items() if not name.startswith(CONTROLLERS)}


def _container(container: Json, metadata: Json, spec: Json) -> Json:
    seen = dict(container)
    if env := container.get("env"):
        seen["env"] = _resolved(env, metadata["labels"])
    if spec.get("hostNetwork") and container.get("ports"):
        seen["ports"] = [{"hostPort": each["containerPort"], **each} for each in container["ports"]]
    resources = container.get("resources") or {}
    if limits := resources.get("limits"):
        seen["resources"] = {**resources, "requests": {**limits, **(resources.get("requests") or {})}}
    return seen


def _resolved(env: list[Json], labels: Mapping[str, str]) -> list[Json]:
    resolved = [_from_label(each, labels) for each in env]
    number = next((each["value"] for each in resolved if each["name"] == INDEX_VARIABLE), "")
    return [
        {**each, "value": each["value"].replace(f"$({INDEX_VARIABLE})", number)} if "value" in each else each
        for each in resolved
        if each["name"] != INDEX_VARIABLE
    ]


def _from_label(variable: Json, labels: Mapping[str, str]) -> Json:
    reference = (variable.get("valueFrom") or {}).get("fieldRef") or {}
    match = LABEL.fullmatch(reference.get("fieldPath", ""))
    if match is None or not match[1].startswith(CONTROLLERS):
        return variable
    return {"name": variable["name"], "value": labels[match[1]]}
