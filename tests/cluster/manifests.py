"""Builders of the objects that the tests of this ring create."""

from typing import Any

from tests.cluster.control_plane.client import Client, Json, collection

JOBSET = "jobset.x-k8s.io/v1alpha2"
SCRIPT = "kfp-trainer.test/"


def pod_template(pool: str, **script: str) -> dict[str, Any]:
    """A pod for one pool of simulated nodes, with what it does there: run, exit, ready, image."""
    return {
        "metadata": {"annotations": {SCRIPT + key: value for key, value in script.items()}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"pool": pool},
            "containers": [{"name": "node", "image": "example.com/train:1"}],
        },
    }


def with_gpus(template: dict[str, Any], gpus: int) -> dict[str, Any]:
    """The template with so many GPUs a pod."""
    first, *others = template["spec"]["containers"]
    containers = [{**first, "resources": {"limits": {"nvidia.com/gpu": gpus}}}, *others]
    return {**template, "spec": {**template["spec"], "containers": containers}}


def with_scheduler(template: dict[str, Any], scheduler: str, **metadata: dict[str, str]) -> dict[str, Any]:
    """The template for another scheduler, with its labels or annotations."""
    merged = {**template["metadata"]}
    for key, values in metadata.items():
        merged[key] = {**merged.get(key, {}), **values}
    return {**template, "metadata": merged, "spec": {**template["spec"], "schedulerName": scheduler}}


def job(template: dict[str, Any], pods: int, **spec: Any) -> dict[str, Any]:
    """The spec of an indexed Job that fails with its first pod."""
    indexed = {"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0}
    return {**indexed, **spec, "template": template}


def jobset(
    name: str, template: dict[str, Any], *, replicas: int = 1, pods: int = 1, **spec: Any
) -> dict[str, Any]:
    """A JobSet with one replicated Job."""
    replicated = {"name": "node", "replicas": replicas, "template": {"spec": job(template, pods)}}
    return {
        "apiVersion": JOBSET,
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {**spec, "replicatedJobs": [replicated]},
    }


def condition(found: Json, kind: str) -> Json | None:
    """The condition of this type, if it is true."""
    conditions = found.get("status", {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind and each["status"] == "True"), None)


def read(client: Client, version: str, kind: str, namespace: str, name: str) -> Json:
    """One object of a namespace."""
    return client.get(f"{collection(version, kind, namespace)}/{name}")
