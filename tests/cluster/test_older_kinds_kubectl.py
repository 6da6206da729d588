"""What people type about their jobs of the older kinds, and what kubectl tells them."""

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.all_objects import all_objects
from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.older_kinds import KUBEFLOW, serving_older_kinds
from tests.cluster.pod_programs import kubectl, python
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.legacy_jobs import legacy_document

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

SAYS = "import os, json; print('I am', json.loads(os.environ['TF_CONFIG'])['task'])"
FOREVER = "import time; time.sleep(600)"
Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[None]:
    whole_cluster.need("scheduler", "process-node", "jobset")
    with serving_older_kinds(whole_cluster, kinds="TFJob,PyTorchJob"):
        yield


@pytest.fixture
def run(cluster: Cluster, namespace: str) -> Kubectl:
    """kubectl in the namespace of the test, which has to succeed."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        done = kubectl(cluster, namespace, *words)
        assert done.returncode == 0, done.stderr
        return done

    return call


def role(container: str, program: str) -> Json:
    main = {"name": container, "image": "example.com/any:1", "command": python(program)}
    return {"pod": {"containers": [main], "nodeSelector": {"pool": PROCESS_NODE}}}


@pytest.fixture
def tf_job(client: Client, namespace: str, run: Kubectl) -> str:
    """A TFJob that has succeeded."""
    roles = {"Chief": role("tensorflow", SAYS), "Worker": role("tensorflow", SAYS)}
    client.create(legacy_document("TFJob", roles) | named("tensorflow-job"), namespace)
    run("wait", "tfjob", "tensorflow-job", "--for=condition=Succeeded", "--timeout=120s")
    return "tensorflow-job"


def named(name: str) -> Json:
    return {"metadata": {"name": name}}


def test_what_is_told_of_a_job(tf_job: str, run: Kubectl) -> None:
    head, line = run("get", "tfjobs").stdout.splitlines()
    assert head.split() == ["NAME", "STATE", "AGE"]
    assert line.split()[:2] == [tf_job, "Succeeded"]
    conditions = json.loads(run("get", "tfjob", tf_job, "-o", "jsonpath={.status.conditions}").stdout)
    assert [each["type"] for each in conditions] == ["Created", "Running", "Succeeded"]
    for each in conditions:
        assert each.keys() == {
            "type",
            "status",
            "reason",
            "message",
            "lastUpdateTime",
            "lastTransitionTime",
        }
    eventually(
        "its end is an event", lambda: "TFJobSucceeded" in events_of(run("describe", "tfjob", tf_job).stdout)
    )


def events_of(described: str) -> str:
    return described.partition("\nEvents:")[2]


LOGS: dict[str, tuple[list[str], list[str]]] = {
    "of a replica, by the name that its pod had in v1": (["job/tensorflow-job-chief-0"], ["chief"]),
    "followed": (["-f", "job/tensorflow-job-worker-0"], ["worker"]),
    "of all pods": (
        ["-l", "training.kubeflow.org/job-name=tensorflow-job", "--all-containers", "--prefix"],
        ["chief", "worker"],
    ),
    "of the pod that speaks for the job": (
        ["-l", "training.kubeflow.org/job-name=tensorflow-job,training.kubeflow.org/job-role=master"],
        ["chief"],
    ),
}


def test_logs(tf_job: str, run: Kubectl, cluster: Cluster, namespace: str) -> None:
    for sentence, (words, who) in LOGS.items():
        told = run("logs", *words).stdout
        assert {each for each in ("chief", "worker") if f"'type': '{each}'" in told} == {*who}, sentence
    said = run("logs", "-l", "job-name=tensorflow-job")
    assert (said.stdout, said.stderr.split(" in ")[0]) == ("", "No resources found")
    missing = kubectl(cluster, namespace, "logs", "tensorflow-job-chief-0")
    assert 'pods "tensorflow-job-chief-0" not found' in missing.stderr


DELETED = [[], ["--force", "--grace-period=0"]]


@pytest.mark.parametrize("words", DELETED, ids=["as usual", "by force"])
def test_with_a_job_goes_what_it_owns(words: list[str], client: Client, namespace: str, run: Kubectl) -> None:
    before = all_objects(client)
    roles = {"Master": role("pytorch", FOREVER), "Worker": role("pytorch", FOREVER)}
    client.create(legacy_document("PyTorchJob", roles) | named("pytorch-job"), namespace)
    run("wait", "pytorchjob", "pytorch-job", "--for=condition=Running", "--timeout=120s")
    run("delete", "pytorchjob", "pytorch-job", *words)

    def left() -> set[str]:
        return {each for each in all_objects(client) - before if each.split("/")[1] == namespace}

    eventually("nothing of it is left", lambda: not left(), say=lambda: str(left()))
    assert client.items(collection(KUBEFLOW, "PyTorchJob", namespace)) == []
