"""The objects that appear on the stage."""

from typing import Any

from kfp_trainer.runtime_operator import api

Json = dict[str, Any]

VERSION = "trainer.kubeflow.org/v1alpha1"
GANG: Json = {"volcano": {}}
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def runtime(name: str = "torch", *, gang: Json | None = None, initializer: bool = False, **spec: Any) -> Json:
    """A runtime of two nodes, as an API server stores it."""
    jobs = [_step("dataset-initializer", "dataset-initializer")] if initializer else []
    after = {"dependsOn": [{"name": each["name"], "status": "Complete"} for each in jobs]} if jobs else {}
    jobs.append({**_step("node", "trainer"), **after})
    policy = {"podGroupPolicy": gang} if gang else {}
    document = {
        "apiVersion": VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": {
            "mlPolicy": {"torch": {}, "numNodes": 2},
            **policy,
            "template": {"spec": {**spec, "replicatedJobs": jobs}},
        },
    }
    stored: Json = api.check(document).stored
    return stored


def mpi_runtime(name: str = "mpi") -> Json:
    """A runtime whose jobs need keys and a list of hosts."""
    node, launcher = _step("node", "trainer"), _step("launcher", "trainer")
    del node["template"]["metadata"]
    launcher["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "node"
    document = {
        "apiVersion": VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": {
            "mlPolicy": {"mpi": {"mpiImplementation": "OpenMPI"}, "numNodes": 2},
            "template": {"spec": {"replicatedJobs": [node, launcher]}},
        },
    }
    stored: Json = api.check(document).stored
    return stored


def _step(name: str, step: str) -> Json:
    container = {"name": "node" if step == "trainer" else name, "image": "i", "command": ["work"]}
    pods = {"spec": {"containers": [container]}}
    if step != "trainer":
        container["volumeMounts"] = [{"name": "initializer", "mountPath": "/workspace"}]
        pods["spec"]["volumes"] = [{"name": "initializer", "emptyDir": {}}]
    return {"name": name, "template": {"metadata": {"labels": {STEP: step}}, "spec": {"template": pods}}}


def job(name: str = "bert", *, runtime: str = "torch", metadata: Json | None = None, **spec: Any) -> Json:
    """A TrainJob as an API server stores it."""
    document = {
        "apiVersion": VERSION,
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "lab", **(metadata or {})},
        "spec": {"runtimeRef": {"name": runtime}, **spec},
    }
    stored: Json = api.check(document).stored
    return stored


def pod(jobset: Json, *, index: int = 0, attempt: int = 0, node: str = "gpu-17", **status: Any) -> Json:
    """A pod of a JobSet's nodes."""
    name = jobset["metadata"]["name"]
    labels = {
        "jobset.sigs.k8s.io/jobset-name": name,
        "jobset.sigs.k8s.io/jobset-uid": jobset["metadata"]["uid"],
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "jobset.sigs.k8s.io/restart-attempt": str(attempt),
    }
    limits = {"limits": {"memory": "64Gi"}}
    spec: Json = {"containers": [{"name": "node", "image": "i", "resources": limits}]}
    if node:
        spec["nodeName"] = node
    return {
        "metadata": {"name": f"{name}-node-0-{index}-{attempt:05}", "namespace": "lab", "labels": labels},
        "spec": spec,
        "status": status,
    }


def died(code: int, *, reason: str = "Error", message: str = "") -> Json:
    """The status of a pod whose container ended badly."""
    ended = {
        "exitCode": code,
        "reason": reason,
        "message": message,
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:41:00Z",
    }
    return {"phase": "Failed", "containerStatuses": [{"name": "node", "state": {"terminated": ended}}]}


def waits(reason: str, message: str = "") -> Json:
    """The status of a pod whose container cannot start."""
    waiting = {"reason": reason, "message": message}
    return {"phase": "Pending", "containerStatuses": [{"name": "node", "state": {"waiting": waiting}}]}


def unplaced(message: str) -> Json:
    """The status of a pod that the scheduler cannot place."""
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [said]}
