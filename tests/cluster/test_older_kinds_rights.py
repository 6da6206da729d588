"""For the older kinds the operator may do what it does, and nothing else: its rights beside the audit log.

As in `test_operator_rbac`: one life of each sort, on simulated nodes, and then each right was used or stands
below with the reason, and nothing was asked for that is not granted.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.control_plane.client import Client, Json, collection, eventually, exists
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.manifests import condition, pod_template
from tests.cluster.older_kinds import KUBEFLOW
from tests.cluster.operator_install import NAME, Installed, installation
from tests.cluster.rights import RBAC, Right, refused, rights, uses
from tests.legacy_jobs import ROLES, legacy_document

pytestmark = pytest.mark.parts("scheduler", "kwok", "process-node", "jobset")

ROLE = f"{NAME}-older-kinds"
GROUP = "kubeflow.org"
TARGET = {"type": "Utilization", "averageUtilization": 80}
METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": TARGET}}]
ELASTIC = {"minReplicas": 1, "maxReplicas": 3, "metrics": METRICS}
UNUSED: dict[Right, str] = {
    Right("", "pods/exec", "create"): "held so that it may be granted to a launcher",
    **{
        Right(group, plural, "get"): "asks whose an object of our name is; tried with a Service"
        for group, plural in (
            ("", "serviceaccounts"),
            ("autoscaling", "horizontalpodautoscalers"),
            ("rbac.authorization.k8s.io", "roles"),
            ("rbac.authorization.k8s.io", "rolebindings"),
            ("scheduling.volcano.sh", "podgroups"),
            ("scheduling.x-k8s.io", "podgroups"),
        )
    },
    **{
        Right(GROUP, f"{kind.plural}/finalizers", "update"): (
            "asked for by API servers that run OwnerReferencesPermissionEnforcement, when a JobSet is made"
        )
        for kind in LEGACY_KINDS.values()
    },
    **{
        Right(GROUP, f"mxjobs{sub}", verb): "of a kind that is not served unless somebody says so"
        for sub, verb in (("", "list"), ("", "watch"), ("", "delete"), ("/status", "patch"))
    },
}


class Lives:
    """Jobs of the older kinds in one namespace, on one pool of nodes."""

    def __init__(self, client: Client, namespace: str, pool: str) -> None:
        self.client, self.namespace, self.pool = client, namespace, pool

    def add(self, kind: str, roles: dict[str, Json], *, run: str = "forever", **spec: Any) -> str:
        """Create a job that is called as its kind is; its path."""
        metadata = pod_template(self.pool, run=run)["metadata"]
        pod = {"nodeSelector": {"pool": self.pool}}
        document = legacy_document(
            kind, {name: {"pod": pod, "metadata": metadata, **role} for name, role in roles.items()}, **spec
        )
        document["metadata"] = {"name": kind.lower()}
        self.client.create(document, self.namespace)
        return self.path(KUBEFLOW, kind, kind.lower())

    def until(self, path: str, type_: str) -> None:
        """Wait for a condition."""
        eventually(
            f"{path}: {type_}",
            lambda: condition(self.client.get(path), type_),
            say=lambda: str(self.client.get(path)),
        )

    def path(self, version: str, kind: str, name: str) -> str:
        return f"{collection(version, kind, self.namespace)}/{name}"

    def running(self, path: str) -> int:
        """How many workers the job says run."""
        return int(self.client.get(path)["status"]["replicaStatuses"]["Worker"].get("active", 0))

    def mend(self, path: str, spoilt: dict[str, str]) -> None:
        """Spoil the labels of an object of ours, and wait until they are as they were."""
        before = self.client.get(path)["metadata"]["labels"]
        self.client.patch(path, {"metadata": {"labels": spoilt}})
        eventually(f"{path} is mended", lambda: self.client.get(path)["metadata"]["labels"] == before)

    def gone(self, path: str) -> None:
        """Wait until an object is no more."""
        eventually(f"{path} is gone", lambda: not exists(self.client, path))


def each_kind_succeeds_and_is_cleared_away(lives: Lives) -> None:
    for kind, roles in ROLES.items():
        lives.add(kind, {role: {} for role in roles}, run="1s", runPolicy={"ttlSecondsAfterFinished": 0})
    for kind in ROLES:
        lives.gone(lives.path(KUBEFLOW, kind, kind.lower()))


def workers_that_come_go_and_rest(lives: Lives) -> None:
    path = lives.add("PyTorchJob", {"Worker": {"replicas": 2}}, elasticPolicy=ELASTIC)
    lives.until(path, "Running")
    for replicas in (3, 1):
        lives.client.patch(path, {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": replicas}}}})
        eventually(f"{replicas} run", lambda number=replicas: lives.running(path) == number)
    autoscaler = lives.path("autoscaling/v2", "HorizontalPodAutoscaler", "pytorchjob")
    lives.client.patch(path, {"spec": {"elasticPolicy": {"maxReplicas": 5}}})
    eventually("it may add more", lambda: lives.client.get(autoscaler)["spec"]["maxReplicas"] == 5)
    lives.client.patch(path, {"spec": {"runPolicy": {"suspend": True}}})
    lives.until(path, "Suspended")
    lives.gone(autoscaler)


def an_mpi_launcher_whose_rights_somebody_spoils(lives: Lives) -> None:
    path = lives.add("MPIJob", {"Launcher": {}, "Worker": {"replicas": 2}})
    lives.until(path, "Running")
    for version, kind, name in (
        ("v1", "ServiceAccount", "mpijob-launcher"),
        ("v1", "ConfigMap", "mpijob-config"),
        (RBAC, "Role", "mpijob-launcher"),
        (RBAC, "RoleBinding", "mpijob-launcher"),
    ):
        lives.mend(lives.path(version, kind, name), {"app": "spoilt"})


def a_name_that_somebody_else_has(lives: Lives) -> None:
    name = "tfjob-worker-0"
    taken = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"clusterIP": "None"}}
    lives.client.create(taken, lives.namespace)
    lives.add("TFJob", {"Worker": {}})
    events = f"{collection('v1', 'Event', lives.namespace)}?fieldSelector=reason=ErrResourceExists"
    eventually("it is told", lambda: lives.client.items(events))
    service = lives.path("v1", "Service", name)
    lives.client.delete(service)
    eventually("it is ours", lambda: exists(lives.client, service))
    lives.mend(service, {"training.kubeflow.org/job-name": "spoilt"})


LIVES: list[Callable[[Lives], None]] = [
    each_kind_succeeds_and_is_cleared_away,
    workers_that_come_go_and_rest,
    an_mpi_launcher_whose_rights_somebody_spoils,
    a_name_that_somebody_else_has,
]


@pytest.fixture
def installed(cluster: Cluster) -> Iterator[Installed]:
    with installation(cluster, "older-kinds") as made:
        yield made


def test_every_right_is_used_and_nothing_else_is_asked_for(
    installed: Installed, client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    lives = Lives(client, namespace, simulated(1))
    for live in LIVES:
        live(lives)
    granted = rights(client, ("ClusterRole", "", ROLE))
    events = installed.audited()
    assert {f"{each['verb']} {each['requestURI']}" for each in events if refused(each)} == set()
    used = {right for each in events if not refused(each) for right in uses(each)}
    assert granted - used == UNUSED.keys()
