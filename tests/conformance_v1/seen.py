"""A pod as its user sees it: what a container gets, and of what JobSet and Job controllers add nothing.

Pods are told by their place, under the name that v1 gave them: the real one ends in random letters. Field
references that JobSet's labels answer are resolved, and the variable that only carries a number into a text
is left out, as are the lines by which an MPI launcher finds a pod of such a name (docs/deviations.md, Older
kinds).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LegacyJob, Role
from kfp_trainer.runtime_operator.render.legacy.values import INDEX_VARIABLE

Json = Mapping[str, Any]
CONTROLLERS = (
    "jobset.sigs.k8s.io/",
    "batch.kubernetes.io/",
    "kfp-trainer/",
    "kfp-trainer.test/",
    "controller-uid",
    "job-name",
)
"""whose labels and annotations v1's pods do not have"""
LOOK_UP = re.compile(r"^case \$\{POD_NAME#.*?^esac\n", re.DOTALL | re.MULTILINE)
"""the lines of kubexec.sh that find the pod of a host, which v1 called as the host"""
COMPLETION_INDEX = "JOB_COMPLETION_INDEX"
"""what Kubernetes tells every pod of a Job whose pods have host names"""
LABEL = re.compile(r"metadata\.labels\['(.+)'\]")


def place_name(job: LegacyJob, role: Role, index: int) -> str:
    """The name of a pod in v1."""
    return f"{job.name}-{role.lower}" + ("" if role.name == "Launcher" else f"-{index}")


def seen_pod(
    manifest: Json, phase: str, job: LegacyJob, role: Role, index: int, attempt: int
) -> dict[str, Any]:
    """Tell of a pod."""
    metadata, spec = manifest["metadata"], dict(manifest["spec"])
    for field in ("hostname", "subdomain"):
        if spec.get(field) != role.pod.get(field):
            del spec[field]  # of v1's pods it is their name
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_container(each, metadata, spec) for each in spec[field]]
    return {
        "role": role.lower,
        "index": index,
        "name": place_name(job, role, index),
        "phase": phase,
        "incarnation": attempt + 1,
        "labels": _own(metadata.get("labels")),
        "annotations": _own(metadata.get("annotations")),
        **spec,
    }


def with_labels(manifest: Json, labels: Json) -> Json:
    """A pod as it is once the controller has written its labels on it."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}}


def seen_status(status: Json) -> dict[str, Any]:
    """Tell of a job's status; when its conditions came matters to nobody."""
    conditions = [
        {name: value for name, value in each.items() if not name.startswith("last")}
        for each in status.get("conditions") or ()
    ]
    return {**status, "conditions": conditions}


def seen_service(service: Json) -> dict[str, Any]:
    """Tell of a Service."""
    return {"name": service["metadata"]["name"], "labels": _of_v1(service), **service["spec"]}


def seen_object(target: Json, places: Mapping[str, str]) -> dict[str, Any]:
    """Tell of an object; a Role names pods, and they are told by their place."""
    body = {name: value for name, value in target.items() if name not in ("apiVersion", "metadata", "status")}
    if "kubexec.sh" in (target.get("data") or {}):
        body["data"] = {name: LOOK_UP.sub("", text) for name, text in target["data"].items()}
    if target["kind"] == "Role":
        body["rules"] = [_by_place(each, places) for each in target["rules"]]
    metadata = target["metadata"]
    marks = {"annotations": metadata["annotations"]} if metadata.get("annotations") else {}
    return {"name": metadata["name"], "labels": _of_v1(target), "owned": is_owned(target), **marks, **body}


def is_owned(target: Json) -> bool:
    """Whether an object belongs to a job."""
    return bool(target["metadata"].get("ownerReferences"))


def _by_place(rule: Json, places: Mapping[str, str]) -> Json:
    if "resourceNames" not in rule:
        return rule
    return {**rule, "resourceNames": [places.get(name, name) for name in rule["resourceNames"]]}


def _of_v1(target: Json) -> dict[str, str]:
    labels = target["metadata"].get("labels") or {}
    return {name: value for name, value in labels.items() if not name.startswith("kfp-trainer/")}


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
        if each["name"] not in (INDEX_VARIABLE, COMPLETION_INDEX)
    ]


def _from_label(variable: Json, labels: Mapping[str, str]) -> Json:
    reference = (variable.get("valueFrom") or {}).get("fieldRef") or {}
    match = LABEL.fullmatch(reference.get("fieldPath", ""))
    if match is None or not match[1].startswith(CONTROLLERS):
        return variable
    return {"name": variable["name"], "value": labels[match[1]]}
