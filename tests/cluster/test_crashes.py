"""Any part may be killed and started again: the plane goes on, and what was stored is still there."""

from collections.abc import Callable

import pytest

from tests.cluster.control_plane.client import UNREACHABLE, ApiError, Client, collection, eventually
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import JOBSET, jobset, pod_template, read

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

KILLED = ["etcd", "kube-apiserver", "kube-controller-manager", "scheduler", "kwok", "jobset"]
BACK_OFF_SECONDS = 90.0
"""so long a controller may wait before it tries an API server again that was gone"""


@pytest.mark.parametrize("killed", KILLED)
def test_the_plane_goes_on_after_a_crash(
    plane: Plane, namespace: str, simulated: Callable[..., str], killed: str
) -> None:
    client, template = plane.client, pod_template(simulated(1))
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"kept": "yes"}}
    client.create(note, namespace)
    plane.kill(killed)
    assert plane.site.processes[killed].pid is None
    plane.start_again(killed)
    assert read(client, "v1", "ConfigMap", namespace, "note")["data"] == {"kept": "yes"}
    eventually("a JobSet is accepted", lambda: accepted(client, namespace, template), limit=BACK_OFF_SECONDS)
    eventually("it completes", lambda: completed(client, namespace), limit=BACK_OFF_SECONDS)


def accepted(client: Client, namespace: str, template: dict[str, object]) -> bool:
    """Whether the JobSet was made; its webhook may not answer yet."""
    try:
        client.create(jobset("after", template), namespace)
    except ApiError as refused:
        assert refused.code == 500, refused
        return False
    return True


def completed(client: Client, namespace: str) -> bool:
    status = read(client, JOBSET, "JobSet", namespace, "after").get("status", {})
    return bool(status.get("terminalState") == "Completed")


def test_a_killed_api_server_does_not_answer(plane: Plane) -> None:
    plane.kill("kube-apiserver")
    try:
        with pytest.raises(UNREACHABLE):
            plane.client.get(collection("v1", "Namespace"))
    finally:
        plane.start_again("kube-apiserver")
