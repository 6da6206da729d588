"""The SDK of the Training Operator, unmodified and in an environment of its own, against our operator."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.older_kinds import KUBEFLOW, serving_older_kinds
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
SCRIPT = Path(__file__).with_name("training_sdk_job.py")
NO_INIT = "--pytorch-init-container-max-tries=0"
"""this machine has no nslookup, with which a worker waits for its master"""
LEADS = {
    "TFJob": "chief",
    "PyTorchJob": "master",
    "XGBoostJob": "master",
    "PaddleJob": "master",
    "MPIJob": "launcher",
    "JAXJob": "worker",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the SDK and what it needs, in the versions of our constraints."""
    folder = tmp_path_factory.mktemp("sdk") / "venv"
    made = folder / "bin/python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    pinned = ["--python", made, "-c", ROOT / "constraints.txt", "kubeflow-training"]
    subprocess.run([UV, "pip", "install", "--quiet", *pinned], check=True)
    return made


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[None]:
    """Our operator, for all kinds that the SDK knows."""
    with serving_older_kinds(whole_cluster, NO_INIT, kinds=",".join(LEADS)):
        yield


def told_by(python: Path, cluster: Cluster, namespace: str, what: str) -> Any:
    """What the SDK has found in its own Python."""
    ran = subprocess.run(
        [python, SCRIPT, str(cluster.kubeconfig), namespace, PROCESS_NODE, what],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_a_function_is_run_by_a_master_and_a_worker(python: Path, cluster: Cluster, namespace: str) -> None:
    told = told_by(python, cluster, namespace, "function")
    assert told == [f"hello from rank {rank} of 2" for rank in range(2)]


@pytest.mark.parametrize("kind", LEADS)
def test_a_job_is_created_waited_for_read_and_deleted(
    kind: str, python: Path, cluster: Cluster, client: Client, namespace: str
) -> None:
    told = told_by(python, cluster, namespace, kind)
    leads = LEADS[kind]
    assert told["conditions"] == ["Created", "Succeeded"]
    assert told["asked"] == [True, True, False]
    assert told["listed"] == ["sdk"]
    assert told["pods"] == (2 if kind == "JAXJob" else 3)
    assert (told["leading"], told["second"]) == (1, 1)
    assert told["said"] == [f"{leads} here"]
    assert told["workers"] == ["worker here"] * 2
    assert f"{kind.lower()}/sdk" in told["events"]
    jobs = collection(KUBEFLOW, kind, namespace)
    eventually("the job is gone", lambda: not client.items(jobs))
    pods = collection("v1", "Pod", namespace)
    eventually("its pods are gone", lambda: not client.items(pods))
