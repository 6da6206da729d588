"""Jobs of the older kinds on the real control plane: from creation to the end, and to the last trace."""

import time
from collections.abc import Iterator
from functools import partial

import pytest

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.control_plane.client import Client, Json, collection, eventually, exists
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.manifests import JOBSET, SCRIPT
from tests.cluster.older_kinds import KUBEFLOW, older_path, serving_older_kinds, true_conditions
from tests.cluster.operator import Simulated, kill, start_again, writes
from tests.counts import count
from tests.legacy_jobs import legacy_document

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

ROLES = {
    "TFJob": {"Chief": 1, "PS": 1, "Worker": 2},
    "PyTorchJob": {"Master": 1, "Worker": 2},
    "MPIJob": {"Launcher": 1, "Worker": 2},
    "XGBoostJob": {"Master": 1, "Worker": 1},
    "PaddleJob": {"Worker": 2},
    "JAXJob": {"Worker": 2},
    "MXJob": {"Scheduler": 1, "Server": 1, "Worker": 1},
}
SETTLES = 8.0
"""seconds after which counts of replicas that waited are written"""
LEFT_BY_KUBERNETES = ("kube-root-ca.crt", "default")
KINDS_OF_CHILDREN = (
    (JOBSET, "JobSet"),
    ("batch/v1", "Job"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "ServiceAccount"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
)


@pytest.fixture(scope="module")
def older_operator(whole_cluster: Cluster) -> Iterator[Process]:
    """The operator, for all tests of this file."""
    with serving_older_kinds(whole_cluster) as process:
        yield process


@pytest.fixture
def plane_of_operator(plane: Plane, older_operator: Process, namespace: str) -> Iterator[Plane]:
    """The plane on which it acts; the jobs of a test are gone after it."""
    yield plane
    for kind in ROLES:
        plane.client.delete(collection(KUBEFLOW, kind, namespace))


def document(
    kind: str, name: str, namespace: str, pool: str, *, roles: Json | None = None, **spec: Json
) -> Json:
    """A job whose pods do as the annotations say."""
    word = spec.pop("script", {})
    template = {
        "metadata": {"annotations": {SCRIPT + key: value for key, value in word.items()}},
        "pod": {"nodeSelector": {"pool": pool}},
    }
    given = {role: {"replicas": number, **template} for role, number in (roles or ROLES[kind]).items()}
    made = legacy_document(kind, given, name=name, **spec)
    del made["metadata"]["uid"]
    made["metadata"]["namespace"] = namespace
    return made


def until(client: Client, job: Json, *conditions: str) -> Json:
    """Wait until these conditions hold, in their order, and no others."""

    def look() -> Json | None:
        found = client.get(older_path(job))
        return found if true_conditions(found) == list(conditions) else None

    return eventually(f"{conditions}", look, say=lambda: str(client.get(older_path(job)).get("status")))


@pytest.mark.parametrize("kind", ROLES)
def test_a_job_succeeds(plane_of_operator: Plane, namespace: str, simulated: Simulated, kind: str) -> None:
    client = plane_of_operator.client
    job = document(kind, "job", namespace, simulated(1), script={"run": "4s"})
    client.create(job, namespace)
    found = until(client, job, "Created", "Succeeded")
    status = found["status"]
    assert status["startTime"] <= status["completionTime"]
    assert [each["reason"] for each in status["conditions"]] == [
        f"{kind}{each}" for each in ("Created", "Running", "Succeeded")
    ]
    events = f"{collection('v1', 'Event', namespace)}?fieldSelector=reason={kind}Succeeded"
    (event,) = eventually("it is told", lambda: client.items(events))
    assert event["involvedObject"]["uid"] == found["metadata"]["uid"]


def test_every_pod_says_who_it_is(plane_of_operator: Plane, namespace: str, simulated: Simulated) -> None:
    client = plane_of_operator.client
    job = document("TFJob", "job", namespace, simulated(1), script={"run": "forever"})
    client.create(job, namespace)
    prefix = "training.kubeflow.org/"

    def said() -> set[tuple[str, ...]]:
        labels = [each["metadata"]["labels"] for each in pods_of(client, namespace)]
        names = ("replica-type", "replica-index", "job-role")
        return {tuple(each.get(prefix + name, "") for name in names) for each in labels}

    wanted = {("chief", "0", "master"), ("ps", "0", ""), ("worker", "0", ""), ("worker", "1", "")}
    eventually("all say so", lambda: said() == wanted, say=lambda: str(said()))


def test_an_operator_that_starts_again_writes_nothing(
    plane_of_operator: Plane, older_operator: Process, namespace: str, simulated: Simulated
) -> None:
    client, pool = plane_of_operator.client, simulated(1)
    jobs = [document(kind, kind.lower(), namespace, pool, script={"run": "forever"}) for kind in ROLES]
    rests = document("PyTorchJob", "rests", namespace, pool, runPolicy={"suspend": True})
    for each in (*jobs, rests):
        client.create(each, namespace)
    for each in jobs:
        until(client, each, "Created", "Running")
    until(client, rests, "Created", "Suspended")
    time.sleep(SETTLES)
    kill(older_operator)
    start_again(plane_of_operator, older_operator)
    time.sleep(SETTLES)
    assert writes(plane_of_operator) == 0


def test_an_operator_that_is_killed_loses_and_doubles_nothing(
    plane_of_operator: Plane, older_operator: Process, namespace: str, simulated: Simulated
) -> None:
    client, pool = plane_of_operator.client, simulated(2)
    kinds = [*ROLES] * count(4, sampled=1)
    jobs = [
        document(kind, f"job-{index}", namespace, pool, script={"run": "3s"})
        for index, kind in enumerate(kinds)
    ]
    for number, each in enumerate(jobs):
        client.create(each, namespace)
        if number % 3 == 2:
            kill(older_operator)
            start_again(plane_of_operator, older_operator)
    for each in jobs:
        until(client, each, "Created", "Succeeded")
    names = [each["metadata"]["name"] for each in client.items(collection(JOBSET, "JobSet", namespace))]
    assert sorted(names) == sorted(each["metadata"]["name"] for each in jobs)


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob"])
@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_deletion_leaves_nothing(
    plane_of_operator: Plane, namespace: str, simulated: Simulated, kind: str, propagation: str
) -> None:
    client = plane_of_operator.client
    job = document(kind, "gone", namespace, simulated(1), script={"run": "forever"})
    client.create(job, namespace)
    until(client, job, "Created", "Running")
    client.delete(older_path(job), {"propagationPolicy": propagation})

    def left() -> list[str]:
        found = [each for of in KINDS_OF_CHILDREN for each in client.items(collection(*of, namespace))]
        names = [each["metadata"]["name"] for each in found]
        return [name for name in names if name not in LEFT_BY_KUBERNETES]

    eventually("nothing is left", lambda: not left(), say=lambda: str(left()))
    time.sleep(3)  # in which nothing may come back
    assert left() == []


def test_a_job_that_is_made_again_at_once_inherits_nothing(
    plane_of_operator: Plane, namespace: str, simulated: Simulated
) -> None:
    client, pool = plane_of_operator.client, simulated(1)
    script = {"run": "1s", "exit": "all=1"}
    fails = document("XGBoostJob", "again", namespace, pool, roles={"Master": 1}, script=script)
    for _ in range(count(10, sampled=3)):
        client.create(fails, namespace)
        until(client, fails, "Created", "Failed")
        client.delete(older_path(fails))
        eventually("it is gone", lambda: not exists(client, older_path(fails)))
    runs = document("XGBoostJob", "again", namespace, pool, roles={"Master": 1}, script={"run": "forever"})
    client.create(runs, namespace)
    until(client, runs, "Created", "Running")
    time.sleep(3)
    until(client, runs, "Created", "Running")


def test_kubectl_scale_adds_and_takes_away_pods(
    plane_of_operator: Plane, namespace: str, simulated: Simulated
) -> None:
    client = plane_of_operator.client
    job = document("JAXJob", "job", namespace, simulated(1), script={"run": "forever"})
    client.create(job, namespace)
    until(client, job, "Created", "Running")

    def seen() -> tuple[list[str], int, int]:
        services = client.items(collection("v1", "Service", namespace))
        hosts = sorted(each["metadata"]["name"] for each in services)
        active = client.get(f"{older_path(job)}/scale")["status"]["replicas"]
        return hosts, len(pods_of(client, namespace)), active

    def scaled_to(number: int) -> bool:
        return seen() == ([f"job-worker-{index}" for index in range(number)], number, number)

    for number in (4, 1, 3):
        client.patch(f"{older_path(job)}/scale", {"spec": {"replicas": number}})
        eventually(f"{number} replicas", partial(scaled_to, number), say=lambda: str(seen()))


def test_what_is_managed_by_somebody_else_is_left_alone(
    plane_of_operator: Plane, namespace: str, simulated: Simulated
) -> None:
    client, pool = plane_of_operator.client, simulated(1)
    policy = {"managedBy": "kueue.x-k8s.io/multikueue"}
    theirs = document("TFJob", "theirs", namespace, pool, runPolicy=policy)
    ours = document("TFJob", "ours", namespace, pool, script={"run": "forever"})
    client.create(theirs, namespace)
    client.create(ours, namespace)
    until(client, ours, "Created", "Running")
    assert "status" not in client.get(older_path(theirs))
    assert [each["metadata"]["name"] for each in client.items(collection(JOBSET, "JobSet", namespace))] == [
        "ours"
    ]


def test_a_job_that_nobody_judged_says_what_is_wrong(
    plane_of_operator: Plane, namespace: str, simulated: Simulated
) -> None:
    client = plane_of_operator.client
    job = document("PyTorchJob", "wrong", namespace, simulated(1), nprocPerNode="many")
    client.create(job, namespace)
    found = until(client, job, "Created", "Failed")
    assert "spec.nprocPerNode" in found["status"]["conditions"][-1]["message"]
    assert set(ROLES) == set(LEGACY_KINDS)
