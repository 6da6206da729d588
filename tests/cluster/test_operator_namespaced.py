"""Our operator for one namespace, with rights there alone: it works there, and nowhere else."""

from collections.abc import Callable, Iterator

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.manifests import JOBSET
from tests.cluster.operator import delete_jobs, ended, install_crds, path_of, runtime, step, train_job
from tests.cluster.operator_install import Installed, installation
from tests.cluster.pod_programs import python
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

NOT_OF_A_NAMESPACE = {"clustertrainingruntimes", "runtimeclasses"}
"""what it tries to read and does without"""


@pytest.fixture
def installed(cluster: Cluster, client: Client, namespace: str) -> Iterator[Installed]:
    """The installation in the namespace of the test."""
    install_crds(client)
    with installation(cluster, "namespaced", namespace=namespace) as made:
        yield made
        delete_jobs(client, namespace)


def plain() -> Json:
    container = {"name": "node", "image": "example.com/any:1", "command": python("print('trained')")}
    spec = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [container]}
    made = runtime(step("node", "trainer", {"metadata": {}, "spec": spec}))
    made["spec"]["mlPolicy"] = {"numNodes": 1, "torch": {}}
    return made


def test_it_serves_its_namespace_and_no_other(
    installed: Installed, client: Client, namespace: str, new_namespace: Callable[[], str]
) -> None:
    elsewhere = new_namespace()
    for each in (namespace, elsewhere):
        client.create(plain(), each)
        client.create(train_job("runs", nodes=2), each)
    assert ended(client, namespace, "runs")[0] == "Complete"
    wrong = train_job("wrong", trainer={"numNodes": 1, "env": [{"name": "PET_NNODES", "value": "3"}]})
    client.create(wrong, namespace)
    how, message = ended(client, namespace, "wrong")
    assert how == "Failed"
    assert message.startswith("spec.trainer.env: ")
    late = train_job("late", runtime="comes-later")
    client.create(late, namespace)
    path = path_of(namespace, "late")
    eventually("it waits", lambda: "is not found" in client.get(path).get("status", {}).get("why", ""))
    client.create(plain() | {"metadata": {"name": "comes-later"}}, namespace)
    assert ended(client, namespace, "late")[0] == "Complete"
    assert client.items(collection(JOBSET, "JobSet", elsewhere)) == []
    assert "status" not in client.get(path_of(elsewhere, "runs"))
    refused = {
        each["objectRef"]["resource"]
        for each in installed.audited()
        if each.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
    }
    assert refused <= NOT_OF_A_NAMESPACE
    delete_jobs(client, elsewhere)
