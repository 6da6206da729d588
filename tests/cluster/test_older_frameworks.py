"""Real frameworks in jobs of the older kinds, over pods of a process node; and what they print, by role."""

import subprocess
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.processes import Process
from tests.cluster.older_kinds import KUBEFLOW, older_path, serving_older_kinds, true_conditions
from tests.cluster.operator import KFP_TRAINER
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.counts import SOAK
from tests.legacy_jobs import legacy_document
from tests.older_programs import ELASTIC_POLICY, ELASTIC_START, LINE, TENSORFLOW, elastic_env
from tests.tensorflow_wheel import WHY_NOT, python_with_tensorflow

pytestmark = pytest.mark.parts("scheduler", "jobset", "process-node")

NO_INIT = "--pytorch-init-container-max-tries=0"
"""this machine has no nslookup, with which a worker waits for its master"""
ONE_THREAD = {"name": "OMP_NUM_THREADS", "value": "1"}


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[Process]:
    """Our operator, serving the kinds of these tests."""
    with serving_older_kinds(whole_cluster, NO_INIT, kinds="PyTorchJob,TFJob") as process:
        yield process


def role(container: str, *command: str, replicas: int = 1, env: Sequence[Json] = (), **given: Any) -> Json:
    """Replicas that run a command on the process node."""
    main = {"name": container, "image": "lab.example/train:1", "command": [*command], "env": [*env]}
    pod = {"nodeSelector": {"pool": PROCESS_NODE}, "containers": [main]}
    return {"replicas": replicas, "pod": {**pod, **given.pop("spec", {})}, **given}


def created(client: Client, namespace: str, kind: str, roles: Json, **spec: Any) -> Json:
    """A job of this namespace."""
    document = {**legacy_document(kind, roles, **spec), "metadata": {"name": "job", "namespace": namespace}}
    client.create(document, namespace)
    return document


def succeeded(client: Client, document: Json, *, limit: float = 180) -> None:
    """Wait until the job has ended, and well."""
    path = older_path(document)

    def ended() -> list[str] | None:
        found = true_conditions(client.get(path))
        return found if {"Succeeded", "Failed"} & {*found} else None

    found = eventually("the job has ended", ended, limit=limit, say=lambda: str(client.get(path)))
    assert "Succeeded" in found, client.get(path)


def by_role(cluster: Cluster, namespace: str, role: str) -> list[str]:
    """What our command prints of a role."""
    command = ["logs", "job", "--role", role, "--cluster", "-n", namespace]
    ran = subprocess.run(
        [KFP_TRAINER, *command, "--kubeconfig", str(cluster.kubeconfig)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return [line.partition(": ")[2] for line in ran.stdout.splitlines()]


def kubectl_log(cluster: Cluster, namespace: str, job: str) -> str:
    """What kubectl prints of the Job of a replica."""
    ran = subprocess.run(
        ["kubectl", "--kubeconfig", str(cluster.kubeconfig), "-n", namespace, "logs", f"job/{job}"],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_master_and_three_workers_train_with_gloo(cluster: Cluster, client: Client, namespace: str) -> None:
    train = ["python", "-c", LINE]
    roles = {
        "Master": role("pytorch", *train, env=[ONE_THREAD]),
        "Worker": role("pytorch", *train, replicas=3, env=[ONE_THREAD]),
    }
    succeeded(client, created(client, namespace, "PyTorchJob", roles))
    assert by_role(cluster, namespace, "master") == ["rank 0 of 4 has weight 3.00"]
    said = [line for line in by_role(cluster, namespace, "Worker") if line.startswith("rank")]
    assert said == [f"rank {rank} of 4 has weight 3.00" for rank in (1, 2, 3)]


def test_kubectl_finds_the_log_of_a_replica(cluster: Cluster, client: Client, namespace: str) -> None:
    show = ["sh", "-c", 'echo "$TF_CONFIG"']
    roles = {"Chief": role("tensorflow", *show), "Worker": role("tensorflow", *show, replicas=2)}
    succeeded(client, created(client, namespace, "TFJob", roles))
    assert '"task":{"type":"chief","index":0}' in kubectl_log(cluster, namespace, "job-chief-0")
    assert '"task":{"type":"worker","index":1}' in kubectl_log(cluster, namespace, "job-worker-1")


@pytest.mark.skipif(not SOAK, reason=WHY_NOT)
def test_two_workers_train_with_tensorflow(
    cluster: Cluster, client: Client, namespace: str, tmp_path: Path
) -> None:
    python = python_with_tensorflow(tmp_path / "venv")
    worker = role("tensorflow", python, "-c", TENSORFLOW, replicas=2)
    succeeded(client, created(client, namespace, "TFJob", {"Worker": worker}, successPolicy="AllWorkers"))
    said = [line for line in by_role(cluster, namespace, "worker") if "has weight" in line]
    assert said == [f"{index} of 2 has weight 3.00" for index in range(2)]


def test_an_elastic_job_loses_a_worker_and_regains_it(client: Client, namespace: str, tmp_path: Path) -> None:
    worker = role(
        "pytorch",
        "sh",
        "-c",
        ELASTIC_START,
        replicas=3,
        env=elastic_env("/shared"),
        restartPolicy="ExitCode",
        spec={"volumes": [{"name": "shared", "hostPath": {"path": str(tmp_path)}}]},
    )
    worker["pod"]["containers"][0]["volumeMounts"] = [{"name": "shared", "mountPath": "/shared"}]
    job = created(
        client, namespace, "PyTorchJob", {"Worker": worker}, nprocPerNode="1", elasticPolicy=ELASTIC_POLICY
    )
    succeeded(client, job, limit=300)
    pods = collection("v1", "Pod", namespace)
    said = "\n".join(
        client.text("GET", f"{pods}/{each['metadata']['name']}/log") for each in client.items(pods)
    )
    together = [line.removeprefix("together ") for line in said.splitlines() if "together" in line]
    assert [count for count, _ in groupby(together)][-3:] == ["3", "2", "3"]
    assert KUBEFLOW in str(client.get(older_path(job)))
