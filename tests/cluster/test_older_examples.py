"""Thirteen jobs out of a text about the Training Operator run as they are, but for what their images do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.nodes import NODES
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.older_kinds import KUBEFLOW, older_path, serving_older_kinds, true_conditions
from tests.cluster.process_node.starting import process_nodes

pytestmark = pytest.mark.parts("scheduler", "jobset", "process-node")

CASES = Path(__file__).parents[1] / "conformance_v1" / "cases"
EXAMPLES: list[Json] = [
    yaml.safe_load(path.read_text())["input"][-1] for path in sorted(CASES.glob("example-*.yaml"))
]
POOL = "examples"
NO_INIT = "--pytorch-init-container-max-tries=0"
"""this machine has no nslookup, with which a worker waits for its master"""
IN_THE_IMAGE: dict[str, list[str]] = {
    "tensorflow": ["sh", "-c", "echo tf ${DATA_PATH:-} $TF_CONFIG"],
    "pytorch": ["sh", "-c", "echo rank $RANK of $WORLD_SIZE; [ ! -d /output ] || touch /output/model"],
    "mpi-launcher": ["cat", "/etc/mpi/hostfile"],
    "xgboost": ["python", "-c", ""],
}
"""what a container runs that names no command; workers of an MPIJob get theirs from the operator"""


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[Process]:
    """Our operator, and a node with all that the examples ask for."""
    if not isinstance(whole_cluster, Plane):
        pytest.skip("an existing cluster: it gets no node from here")
    kinds = "TFJob,PyTorchJob,MPIJob,XGBoostJob"
    whole_cluster.need("scheduler", "jobset", "process-node")
    with (
        serving_older_kinds(whole_cluster, NO_INIT, kinds=kinds) as process,
        process_nodes(whole_cluster, 1, pool=POOL, cpu=64, memory="256Gi", gpus=32) as (node,),
    ):
        label = {"metadata": {"labels": {"accelerator": "nvidia-tesla-v100"}}}
        whole_cluster.client.patch(f"{NODES}/{node}", label)
        yield process


def here(document: Json, namespace: str) -> Json:
    """A job in this namespace, whose images are programs of this machine."""
    made: Json = yaml.safe_load(yaml.safe_dump(document))
    made["metadata"]["namespace"] = namespace
    (field,) = (name for name in made["spec"] if name.endswith("ReplicaSpecs"))
    for role in made["spec"][field].values():
        pod = role["template"]["spec"]
        pod["nodeSelector"] = {"pool": POOL}
        for container in pod["containers"]:
            if container["name"] in IN_THE_IMAGE:
                container["command"] = IN_THE_IMAGE[container["name"]]
    return made


def claim(name: str) -> Json:
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def test_all_are_admitted_as_they_are(client: Client, namespace: str) -> None:
    assert len(EXAMPLES) == 13
    for each in EXAMPLES:
        as_it_is = {**each, "metadata": {**each["metadata"], "namespace": namespace}}
        path = f"{collection(KUBEFLOW, each['kind'], namespace)}?dryRun=All&fieldValidation=Strict"
        assert client.post(path, as_it_is)["spec"]


def test_all_run_and_succeed(client: Client, namespace: str) -> None:
    for name in ("training-data-pvc", "model-output-pvc"):
        client.create(claim(name), namespace)
    jobs = [here(each, namespace) for each in EXAMPLES]
    for job in jobs:
        client.create(job, namespace)

    def unfinished() -> list[str]:
        found = {older_path(job): true_conditions(client.get(older_path(job))) for job in jobs}
        return [f"{path}: {true}" for path, true in found.items() if "Succeeded" not in true]

    eventually("all have succeeded", lambda: not unfinished(), say=lambda: str(unfinished()))
    (config,) = said(client, namespace, "tensorflow-job", "chief")
    assert '"task":{"type":"chief","index":0}' in config and "tensorflow-job-worker-2" in config
    assert said(client, namespace, "multi-node-gpu-job", "master") == ["rank 0 of 5"]
    assert len(said(client, namespace, "mpi-job", "launcher")) == 4
    eventually("the workers of the MPIJob go", lambda: not pods(client, namespace, "mpi-job", "worker"))


def pods(client: Client, namespace: str, job: str, role: str) -> list[Json]:
    labels = f"training.kubeflow.org/job-name={job},training.kubeflow.org/replica-type={role}"
    return client.items(f"{collection('v1', 'Pod', namespace)}?labelSelector={labels}")


def said(client: Client, namespace: str, job: str, role: str) -> list[str]:
    """The lines of a role."""
    path = collection("v1", "Pod", namespace)
    return [
        line
        for pod in pods(client, namespace, job, role)
        for line in client.text("GET", f"{path}/{pod['metadata']['name']}/log").splitlines()
    ]
