"""Our own commands on jobs of a cluster: run, follow, describe, cancel, delete; from outside, from a pod."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed, SpecError
from kfp_trainer.runtime_operator.jobs import Jobs, Line, Whose, open_jobs
from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import condition
from tests.cluster.operator import (
    KFP_TRAINER,
    delete_jobs,
    path_of,
    running_operator,
    runtime,
    step,
    train_job,
)
from tests.cluster.pod_programs import pod, python
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

COUNT = """
import os, sys, time
for number in range(int(sys.argv[1])):
    print("line", number, "of node", os.environ["NODE"], flush=True)
    time.sleep(float(sys.argv[2]))
"""
FAILS = "import sys; print('looks for data'); sys.exit('no such data')"
INDEX = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[None]:
    """Our operator, for all tests of this file."""
    with running_operator(whole_cluster):
        yield


@pytest.fixture
def jobs(operator: None, cluster: Cluster, client: Client, namespace: str) -> Iterator[Jobs]:
    """The jobs of this test's namespace."""
    yield open_jobs(namespace=namespace, kubeconfig=Path(cluster.kubeconfig))
    delete_jobs(client, namespace)


def documents(name: str, *command: str, nodes: int = 1, **spec: object) -> list[Json]:
    """A runtime whose nodes are processes that run a command, and a job of it."""
    container = {
        "name": "node",
        "image": "example.com/any:1",
        "command": list(command),
        "env": [{"name": "NODE", "valueFrom": INDEX}],
    }
    template = {
        "spec": {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [container]}
    }
    return [runtime(step("node", "trainer", template)), train_job(name, nodes=nodes, **spec)]


def test_a_job_is_followed_to_its_end(jobs: Jobs) -> None:
    name = jobs.create(documents("counts", *python(COUNT, "3", "0"), nodes=2))
    lines = [each for each in jobs.follow(name, Whose(everybody=True)) if isinstance(each, Line)]
    assert sorted(line.text for line in lines) == sorted(
        f"line {number} of node {node}" for number in range(3) for node in range(2)
    )
    job = jobs.get(name)
    assert (job.phase, job.message) == ("Complete", "jobset completed successfully")
    assert [line.text for line in jobs.logs(name)] == [f"line {number} of node 0" for number in range(3)]
    assert jobs.exit_code(name) == 0
    told = jobs.describe(name)
    assert len(told.pods) == 2
    assert {"waiting", "running"} <= {what for what, _ in told.times}
    assert "JobSetCreated" in {event.reason for event in jobs.events(name)}
    assert told.decisions


def test_an_equal_job_is_adopted_and_another_is_refused(jobs: Jobs) -> None:
    asked = documents("adopted", *python(COUNT, "600", "1"))
    name = jobs.create(asked)
    uid = jobs.get(name).train_job["metadata"]["uid"]
    assert jobs.create(asked) == name
    assert jobs.get(name).train_job["metadata"]["uid"] == uid
    with pytest.raises(SpecError, match="runs already, with another spec"):
        jobs.create(documents("adopted", *python(COUNT, "600", "1"), nodes=2))


def test_a_failed_job_tells_what_died_and_is_replaced(jobs: Jobs) -> None:
    asked = documents("fails", *python(FAILS))
    name = jobs.create(asked)
    with pytest.raises(JobFailed) as failed:
        jobs.wait(name)
    said = str(failed.value)
    assert "no such data" in said
    assert "exit code 1" in said
    assert jobs.exit_code(name) == 1
    uid = jobs.get(name).train_job["metadata"]["uid"]
    assert jobs.adopt_or_create(documents("other", *python(FAILS)), owner="task", retries=1) == "other"
    jobs.create(asked)
    assert jobs.get(name).train_job["metadata"]["uid"] != uid


def test_a_cancelled_job_ends_and_stays(jobs: Jobs, client: Client, namespace: str) -> None:
    name = jobs.create(documents("cancelled", *python(COUNT, "600", "1")))
    eventually("it runs", lambda: jobs.get(name).phase == "Running")
    jobs.cancel(name)
    ended = eventually("it has ended", lambda: jobs.get(name).finished and jobs.get(name))
    assert (ended.phase, ended.reason) == ("Failed", "Cancelled")
    eventually("its pods are gone", lambda: not client.items(collection("v1", "Pod", namespace)))


def test_following_goes_on_when_the_api_server_was_away(plane: Plane, jobs: Jobs) -> None:
    name = jobs.create(documents("long", *python(COUNT, "40", "0.5")))
    lines: list[str] = []

    def follow() -> None:
        lines.extend(each.text for each in jobs.follow(name) if isinstance(each, Line))

    following = threading.Thread(target=follow)
    following.start()
    eventually("lines come", lambda: lines or jobs.get(name).phase == "Running")
    plane.kill("kube-apiserver")
    time.sleep(3)  # the outage itself
    plane.start_again("kube-apiserver")
    following.join(120)
    assert not following.is_alive()
    assert lines == [f"line {number} of node 0" for number in range(40)]


def test_what_a_cluster_does_not_serve_is_told(jobs: Jobs) -> None:
    strange = {"apiVersion": "example.com/v1", "kind": "Strange", "metadata": {"name": "x"}}
    with pytest.raises(SpecError, match="the cluster serves no Strange of 'example"):
        jobs.create([*documents("strange", "true"), strange])
    assert list(jobs.list()) == []


def kfp_trainer(
    cluster: Cluster, namespace: str, *words: str, told: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What our command says."""
    place = ["--kubeconfig", str(cluster.kubeconfig), "-n", namespace]
    command = [str(KFP_TRAINER), words[0], *place, *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, input=told)


def test_the_commands_say_what_a_person_wants_to_know(jobs: Jobs, cluster: Cluster, namespace: str) -> None:
    asked = "\n---\n".join(json.dumps(each) for each in documents("typed", *python(COUNT, "2", "0")))
    ran = kfp_trainer(cluster, namespace, "run", "-f", "-", told=asked)
    assert (ran.returncode, ran.stdout.splitlines()) == (0, ["line 0 of node 0", "line 1 of node 0"]), (
        ran.stderr
    )
    assert "Complete" in kfp_trainer(cluster, namespace, "get").stdout
    described = kfp_trainer(cluster, namespace, "describe", "typed").stdout
    assert "why      jobset completed successfully" in described
    assert "folder" not in described
    assert kfp_trainer(cluster, namespace, "logs", "typed").stdout.splitlines()[-1] == "line 1 of node 0"
    assert kfp_trainer(cluster, namespace, "delete", "typed").stdout == "typed: deleted\n"
    missing = kfp_trainer(cluster, namespace, "get", "typed")
    assert (missing.returncode, "not found in namespace" in missing.stderr) == (2, True)


IN_A_POD = """
import json, sys
from kfp_trainer.runtime_operator.jobs import open_jobs
jobs = open_jobs()
name = jobs.adopt_or_create(json.loads(sys.argv[1]), owner="a-step", retries=1)
print("ended as", jobs.wait(name, on_line=print).phase, flush=True)
"""
RIGHTS = [
    {"apiGroups": ["trainer.kubeflow.org"], "resources": ["trainjobs"],
     "verbs": ["create", "get", "list", "watch", "patch", "delete"]},
    {"apiGroups": ["trainer.kubeflow.org"], "resources": ["trainingruntimes", "clustertrainingruntimes"],
     "verbs": ["get", "list", "create", "patch"]},
    {"apiGroups": [""], "resources": ["pods", "pods/log", "events"], "verbs": ["get", "list", "watch"]},
]  # fmt: skip


def test_a_pod_runs_a_job_with_its_own_account(jobs: Jobs, client: Client, namespace: str) -> None:
    rbac = "rbac.authorization.k8s.io"
    client.create(
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": "runs-jobs"}, "rules": RIGHTS},
        namespace,
    )
    client.create(
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "runs-jobs"},
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "runs-jobs"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
        },
        namespace,
    )
    asked = json.dumps(documents("from-a-pod", *python(COUNT, "2", "0")))
    container = {
        "name": "main",
        "image": "example.com/any:1",
        "command": [sys.executable, "-c", IN_A_POD, asked],
    }
    client.create(pod("step", container), namespace)
    path = f"{collection('v1', 'Pod', namespace)}/step"
    eventually(
        "the step has ended",
        lambda: client.get(path)["status"]["phase"] in ("Succeeded", "Failed"),
        limit=120,
    )
    said = client.text("GET", f"{path}/log").splitlines()
    assert said[-1] == "ended as Complete", said
    assert said[:2] == ["line 0 of node 0", "line 1 of node 0"]
    assert condition(client.get(path_of(namespace, "from-a-pod")), "Complete")
