"""The operator may do what it does, and nothing else: its rights beside the audit log of all that it did.

One life of each sort is lived here (jobs that complete, die, rest, run out of time, form gangs, bring keys,
post progress); then each right was used, or stands below with the reason why no test can use it, and nothing
was asked for that is not granted.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import APPLY, OWNER, ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import condition
from tests.cluster.operator import (
    TRAINER,
    delete_jobs,
    ended,
    install_crds,
    path_of,
    runtime,
    step,
    train_job,
)
from tests.cluster.operator_install import NAME, NAMESPACE, Installed, installation
from tests.cluster.pod_programs import python
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.cluster.rights import Right, refused, rights, uses

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

OF_THE_CLUSTER = (("ClusterRole", "", NAME), ("Role", NAMESPACE, NAME))
CRDS = collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")
WORKLOADS = ("kueue", "kueue.x-k8s.io", "workloads")
"""what is read of Kueue: the part that brings it, its group and its plural"""
GROUPS = {"volcano": "scheduling.volcano.sh", "coscheduling": "scheduling.x-k8s.io"}
POST = """
import os, ssl, urllib.request
tls = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read()
body = b'{"trainerStatus": {"lastUpdatedTime": "2026-01-02T03:04:05Z", "progressPercentage": 5}}'
head = {"Authorization": "Bearer " + token}
request = urllib.request.Request(os.environ["KUBEFLOW_TRAINER_SERVER_URL"], body, head)
urllib.request.urlopen(request, context=tls)
"""
CANARY = "a-word-that-stands-in-one-secret"
NOT_OF_A_NAMESPACE = {"clustertrainingruntimes", "runtimeclasses"}
"""what an operator of one namespace tries to read and does without"""
FOREVER = "import time; time.sleep(600)"


UNUSED: dict[Right, str] = {
    Right("trainer.kubeflow.org", "trainjobs/finalizers", "update"): (
        "asked for by API servers that run OwnerReferencesPermissionEnforcement, when a JobSet is made"
    ),
}


def is_there(client: Client, path: str) -> bool:
    try:
        return bool(client.get(path))
    except ApiError as missing:
        assert missing.code == 404
        return False


@pytest.fixture
def kinds_of_others(plane: Plane) -> Iterator[None]:
    """The kinds of both schedulers and of Kueue, without these."""
    added = []
    for part, group, plural in (*((part, group, "podgroups") for part, group in GROUPS.items()), WORKLOADS):
        name = f"{plural}.{group}"
        if not is_there(plane.client, f"{CRDS}/{name}"):
            (file,) = [each for each in PARTS[part].crd_files() if each.name == f"{group}_{plural}.yaml"]
            plane.client.text("PATCH", f"{CRDS}/{name}?{OWNER}", file.read_bytes(), kind=APPLY)
            added.append(name)
    yield
    for name in added:
        plane.client.delete(f"{CRDS}/{name}")
        eventually("it is gone", lambda name=name: not is_there(plane.client, f"{CRDS}/{name}"))


@pytest.fixture
def installed(cluster: Cluster, kinds_of_others: None) -> Iterator[Installed]:
    with installation(cluster) as made:
        yield made


def node(program: str) -> Json:
    container = {"name": "node", "image": "example.com/any:1", "command": python(program)}
    spec = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [container]}
    return step("node", "trainer", {"metadata": {}, "spec": spec})


class Lives:
    """Jobs of every sort in one namespace."""

    def __init__(self, client: Client, namespace: str, *, operator: str = NAMESPACE) -> None:
        self.client, self.namespace, self.operator = client, namespace, operator
        self.of_the_cluster = operator == NAMESPACE

    def add(self, name: str, program: str, **spec: Any) -> str:
        """A job on a runtime of its own name; its path."""
        policy = spec.pop("policy", None)
        made = runtime(node(program), name=name, policy=policy)
        made["spec"]["mlPolicy"] = spec.pop("ml_policy", {"numNodes": 1})
        self.client.create(made, self.namespace)
        self.client.create(train_job(name, runtime=name, **spec), self.namespace)
        return path_of(self.namespace, name)

    def object(self, version: str, kind: str, name: str) -> Json | None:
        try:
            return self.client.get(f"{collection(version, kind, self.namespace)}/{name}")
        except ApiError as missing:
            assert missing.code == 404
            return None

    def end(self, name: str, type_: str) -> None:
        found, message = ended(self.client, self.namespace, name)
        assert found == type_, message


def a_trainer_that_posts(lives: Lives) -> None:
    path = lives.add("posts", POST)
    lives.end("posts", "Complete")
    assert lives.client.get(path)["status"]["trainerStatus"]["progressPercentage"] == 5


def a_job_that_dies(lives: Lives) -> None:
    lives.add("dies", "print('last words'); raise SystemExit(3)")
    lives.end("dies", "Failed")


def a_job_that_runs_out_of_time_and_is_cleared_away(lives: Lives) -> None:
    path = lives.add("late", FOREVER, activeDeadlineSeconds=3, ttlSecondsAfterFinished=2)
    name = path.rpartition("/")[2]
    eventually("it is cleared away", lambda: lives.object(TRAINER, "TrainJob", name) is None)


def a_job_that_rests_twice(lives: Lives) -> None:
    path = lives.add("rests", FOREVER)
    for suspend in (True, False, True):
        eventually("it follows", lambda now=not suspend: is_suspended(lives, "rests") is now)
        lives.client.patch(path, {"spec": {"suspend": suspend}})
    eventually("it rests", lambda: condition(lives.client.get(path), "Suspended"))
    events = f"{collection('v1', 'Event', lives.namespace)}?fieldSelector=reason=JobSetUpdated"
    eventually("it is told twice", lambda: any(each["count"] > 1 for each in lives.client.items(events)))


def is_suspended(lives: Lives, name: str) -> bool | None:
    jobset = lives.object("jobset.x-k8s.io/v1alpha2", "JobSet", name)
    return None if jobset is None else bool(jobset["spec"].get("suspend"))


def a_job_whose_snapshot_somebody_deletes(lives: Lives) -> None:
    lives.add("bare", FOREVER)
    path = f"{collection('v1', 'ConfigMap', lives.namespace)}/bare-runtime-snapshot"
    eventually("it has a JobSet", lambda: is_suspended(lives, "bare") is False)
    lives.client.delete(path)
    eventually("it is taken again", lambda: lives.object("v1", "ConfigMap", "bare-runtime-snapshot"))


def a_job_with_keys_that_were_there(lives: Lives) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys-mpi-ssh-auth"}}
    lives.client.create(secret, lives.namespace)
    mpi = {"numProcPerNode": 1, "mpiImplementation": "OpenMPI", "runLauncherAsNode": True}
    container = {"name": "node", "image": "example.com/any:1", "command": python(FOREVER)}
    template = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    for name in ("keys", "more-keys"):
        launcher = step("launcher", "trainer", template, container="node")
        nodes = step("node", "", template)
        made = runtime(launcher, nodes, name=name)
        made["spec"]["mlPolicy"] = {"numNodes": 1, "mpi": mpi}
        lives.client.create(made, lives.namespace)
        lives.client.create(train_job(name, runtime=name), lives.namespace)
        eventually(
            f"{name}: a JobSet",
            lambda name=name: is_suspended(lives, name) is False,
            say=lambda name=name: str(lives.object(TRAINER, "TrainJob", name)),
        )


def a_lease_that_somebody_deletes(lives: Lives) -> None:
    path = f"{collection('coordination.k8s.io/v1', 'Lease', lives.operator)}/trainer.kubeflow.org"
    lives.client.delete(path)
    eventually("it is made again", lambda: is_there(lives.client, path))


def gangs_that_are_let_go(lives: Lives) -> None:
    for part, group in GROUPS.items():
        policy: Json = {part: {}}
        version = f"{group}/{'v1beta1' if part == 'volcano' else 'v1alpha1'}"
        path = lives.add(part, FOREVER, policy=policy)
        eventually(
            "a group",
            lambda version=version, part=part: lives.object(version, "PodGroup", part),
            say=lambda part=part: str(lives.object(TRAINER, "TrainJob", part)),
        )
        lives.client.patch(path, {"spec": {"suspend": True}})
        eventually(
            "no group",
            lambda version=version, part=part: lives.object(version, "PodGroup", part) is None,
        )


def a_runtime_that_comes_with_its_job(lives: Lives) -> None:
    with pytest.raises(ApiError, match='"nothing" not found'):
        lives.client.create(train_job("lost", runtime="nothing"), lives.namespace)
    wide = train_job("lost") | {"spec": {"runtimeRef": {"name": "nothing"}}}
    with pytest.raises(ApiError, match='"nothing" not found'):
        lives.client.create(wide, lives.namespace)


def runtimes_of_older_trainers(lives: Lives) -> None:
    wide = [("ClusterTrainingRuntime", "")] if lives.of_the_cluster else []
    for kind, namespace in (("TrainingRuntime", lives.namespace), *wide):
        made = runtime(node(FOREVER), name=f"old-{lives.namespace}") | {"kind": kind}
        made["metadata"]["finalizers"] = ["trainer.kubeflow.org/resource-in-use"]
        lives.client.create(made, namespace)
        path = f"{collection(TRAINER, kind, namespace)}/old-{lives.namespace}"
        eventually(
            "it is stripped", lambda path=path: not lives.client.get(path)["metadata"].get("finalizers")
        )
        lives.client.delete(path)


LIVES_OF_A_NAMESPACE: list[Callable[[Lives], None]] = [
    a_job_that_dies,
    a_job_that_runs_out_of_time_and_is_cleared_away,
    a_job_that_rests_twice,
    a_job_whose_snapshot_somebody_deletes,
    a_job_with_keys_that_were_there,
    a_lease_that_somebody_deletes,
    gangs_that_are_let_go,
    runtimes_of_older_trainers,
]
LIVES = [*LIVES_OF_A_NAMESPACE, a_trainer_that_posts, a_runtime_that_comes_with_its_job]


def test_every_right_is_used_and_nothing_else_is_asked_for(
    installed: Installed, client: Client, namespace: str
) -> None:
    lives = Lives(client, namespace)
    for live in LIVES:
        live(lives)
    delete_jobs(client, namespace)
    granted = rights(client, *OF_THE_CLUSTER)
    events = installed.audited()
    assert len(events) > 50
    asked = {f"{each['verb']} {each['requestURI']}" for each in events if refused(each)}
    assert asked == set()
    used = {right for each in events if not refused(each) for right in uses(each)}
    assert granted - used == UNUSED.keys()


def test_for_one_namespace_it_has_the_rights_that_it_uses_there(
    cluster: Cluster, kinds_of_others: None, client: Client, namespace: str
) -> None:
    install_crds(client)
    with installation(cluster, "namespaced", namespace=namespace) as installed:
        lives = Lives(client, namespace, operator=namespace)
        for live in LIVES_OF_A_NAMESPACE:
            live(lives)
        delete_jobs(client, namespace)
        granted = rights(client, ("Role", namespace, NAME))
        events = installed.audited()
        asked = {each["objectRef"]["resource"] for each in events if refused(each)}
        assert asked <= NOT_OF_A_NAMESPACE
        used = {right for each in events if not refused(each) for right in uses(each)}
        assert {each._replace(namespace="") for each in granted - used} == UNUSED.keys()


def test_secrets_are_neither_listed_nor_read_nor_told(
    installed: Installed, plane: Plane, client: Client, namespace: str
) -> None:
    account = plane.client_of(NAMESPACE, NAME)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "canary"}}
    client.create({**secret, "stringData": {"PASSWORD": CANARY}}, namespace)
    for path in (
        "/api/v1/secrets",
        collection("v1", "Secret", namespace),
        f"{collection('v1', 'Secret', namespace)}/canary",
        collection("v1", "Secret", NAMESPACE),
    ):
        with pytest.raises(ApiError, match="forbidden"):
            account.get(path)
    lives = Lives(client, namespace)
    made = runtime(node("print('trained')"), name="secretive")
    pod = made["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["envFrom"] = [{"secretRef": {"name": "canary"}}]
    client.create(made, namespace)
    client.create(train_job("secretive", runtime="secretive"), namespace)
    lives.end("secretive", "Complete")
    kinds = (
        (TRAINER, "TrainJob"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("v1", "ConfigMap"),
        ("v1", "Event"),
    )
    told = [client.text("GET", collection(*kind, namespace)) for kind in kinds]
    assert not any(CANARY in each for each in (installed.words(), *told))
    (own,) = {
        each.name
        for each in rights(client, *OF_THE_CLUSTER)
        if each.resource == "secrets" and each.verb == "get"
    }
    assert own == "kubeflow-trainer-webhook-cert"
    assert account.get(f"{collection('v1', 'Secret', NAMESPACE)}/{own}")["data"].keys() == {
        "ca.crt",
        "ca.key",
        "tls.crt",
        "tls.key",
    }
