"""Any part may be killed and started again: the plane goes on, and what was stored is still there.

Each program is killed, started again, and then has to do its own work.
"""

from collections.abc import Callable

import pytest

from tests.cluster.control_plane.client import UNREACHABLE, ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import (
    JOBSET,
    bound,
    condition,
    create_gang,
    job,
    jobset,
    pod_template,
    read,
)

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

KILLED = [
    "etcd",
    "egress",
    "kube-apiserver",
    "kube-controller-manager",
    "scheduler",
    "kwok",
    "jobset",
]
GANG_PROGRAMS = {
    "volcano": "volcano",
    "volcano-controller": "volcano",
    "volcano-webhook": "volcano",
    "coscheduling": "coscheduling",
    "coscheduling-controller": "coscheduling",
}
"""which gangs a program is needed for"""
TRAINER = "trainer.kubeflow.org/v1alpha1"
KUEUE = "kueue.x-k8s.io/v1beta2"
BACK_OFF_SECONDS = 180.0
"""so long a controller may wait before it tries an API server again that was gone"""


def kill_and_start_again(plane: Plane, name: str) -> None:
    """As after a crash."""
    plane.kill(name)
    assert plane.site.processes[name].pid is None
    plane.start_again(name)


@pytest.mark.parametrize("killed", KILLED)
def test_the_plane_goes_on_after_a_crash(
    plane: Plane, namespace: str, simulated: Callable[..., str], killed: str
) -> None:
    client, template = plane.client, pod_template(simulated(1))
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"kept": "yes"}}
    client.create(note, namespace)
    kill_and_start_again(plane, killed)
    assert read(client, "v1", "ConfigMap", namespace, "note")["data"] == {"kept": "yes"}
    once_admitted(client, namespace, jobset("after", template))

    def completed() -> bool:
        status = read(client, JOBSET, "JobSet", namespace, "after").get("status", {})
        return bool(status.get("terminalState") == "Completed")

    eventually("it completes", completed, limit=BACK_OFF_SECONDS)


@pytest.mark.parts("volcano", "coscheduling")
@pytest.mark.parametrize("killed", GANG_PROGRAMS)
def test_a_gang_is_placed_after_a_crash(
    plane: Plane, namespace: str, simulated: Callable[..., str], killed: str
) -> None:
    pool = simulated(2, gpus=1)
    kill_and_start_again(plane, killed)
    if killed == "volcano-webhook":
        eventually("it admits again", lambda: plane.site.listens(killed))
    create_gang(plane.client, namespace, pool, GANG_PROGRAMS[killed], members=2)
    eventually("both are placed", lambda: bound(plane.client, namespace) == 2, limit=BACK_OFF_SECONDS)


@pytest.mark.parts("trainer", "kueue")
@pytest.mark.parametrize("killed", ["trainer", "kueue"])
def test_a_training_job_completes_after_a_crash(
    plane: Plane, namespace: str, simulated: Callable[..., str], killed: str
) -> None:
    client = plane.client
    kill_and_start_again(plane, killed)
    label = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    pods = {"metadata": {"labels": label}, "spec": job(named(pod_template(simulated(1))), 1)}
    step = {"name": "node", "template": pods}
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [step]}}}
    runtime = {"apiVersion": TRAINER, "kind": "TrainingRuntime", "metadata": {"name": "plain"}, "spec": spec}
    once_admitted(client, namespace, runtime)
    reference = {"runtimeRef": {"name": "plain", "kind": "TrainingRuntime"}}
    train = {"apiVersion": TRAINER, "kind": "TrainJob", "metadata": {"name": "after"}, "spec": reference}
    once_admitted(client, namespace, train)
    eventually(
        "it completes",
        lambda: condition(read(client, TRAINER, "TrainJob", namespace, "after"), "Complete"),
        limit=BACK_OFF_SECONDS,
    )
    if killed == "kueue":
        flavor = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": namespace}, "spec": {}}
        once_admitted(client, namespace, flavor)
        client.delete(f"{collection(KUEUE, 'ResourceFlavor')}/{namespace}")


def named(template: Json) -> Json:
    """With the container's name that the peer asks for."""
    (container,) = template["spec"]["containers"]
    return {**template, "spec": {**template["spec"], "containers": [{**container, "name": "node"}]}}


def once_admitted(client: Client, namespace: str, manifest: Json) -> None:
    """Create an object; a webhook may not answer yet, or not yet know of what was made before."""

    def admitted() -> bool:
        try:
            client.create(manifest, namespace)
        except ApiError as refused:
            told = refused.message
            assert "failed calling webhook" in told or "runtime must be created" in told, told
            return False
        return True

    eventually("it is admitted", admitted, limit=BACK_OFF_SECONDS)


def test_a_killed_api_server_does_not_answer(plane: Plane) -> None:
    plane.kill("kube-apiserver")
    try:
        with pytest.raises(UNREACHABLE):
            plane.client.get(collection("v1", "Namespace"))
    finally:
        plane.start_again("kube-apiserver")
