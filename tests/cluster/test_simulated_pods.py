"""A simulated pod does what its annotations say, and the real controllers see it."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import add_nodes, lose_node, pods_of, remove_nodes
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import JOBSET, condition, jobset, pod_template, read

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")


def ends(client: Client, namespace: str, name: str) -> Json:
    """The JobSet once it has ended."""

    def ended() -> Json | None:
        found = read(client, JOBSET, "JobSet", namespace, name)
        return found if found.get("status", {}).get("terminalState") else None

    return eventually(f"{name} ends", ended) or {}


def exit_codes(pods: list[Json]) -> dict[int, int]:
    """Exit code by completion index, of pods that have ended."""
    return {
        int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]): each["state"][
            "terminated"
        ]["exitCode"]
        for pod in pods
        for each in pod["status"].get("containerStatuses") or []
        if "terminated" in each["state"]
    }


def test_a_plain_jobset_completes(client: Client, namespace: str, simulated: Callable[..., str]) -> None:
    pool = simulated(2)
    client.create(jobset("plain", pod_template(pool), replicas=2, pods=2), namespace)
    assert ends(client, namespace, "plain")["status"]["terminalState"] == "Completed"
    pods = pods_of(client, namespace)
    assert len(pods) == 4
    assert {pod["status"]["phase"] for pod in pods} == {"Succeeded"}
    assert {pod["spec"]["subdomain"] for pod in pods} == {"plain"}


def test_one_index_of_one_attempt_fails_and_the_next_attempt_completes(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    template = pod_template(simulated(2), exit="1@0=137", run="2s")
    client.create(jobset("again", template, pods=2, failurePolicy={"maxRestarts": 1}), namespace)
    failed = eventually("index 1 fails", lambda: 137 in exit_codes(pods_of(client, namespace)).values())
    assert failed
    status = ends(client, namespace, "again")["status"]
    assert (status["terminalState"], status["restarts"]) == ("Completed", 1)


def test_every_pod_fails_with_its_code(client: Client, namespace: str, simulated: Callable[..., str]) -> None:
    client.create(jobset("bad", pod_template(simulated(1), exit="all=3")), namespace)
    found = ends(client, namespace, "bad")
    assert condition(found, "Failed") is not None
    assert exit_codes(pods_of(client, namespace)) == {0: 3}


@pytest.mark.parametrize(
    ("script", "phase", "waits_for"),
    {
        "never ready": ({"ready": "never", "run": "forever"}, "Running", None),
        "an image that is never pulled": ({"image": "never"}, "Pending", "ImagePullBackOff"),
    }.values(),
    ids=["never ready", "never pulled"],
)
def test_a_pod_stays_as_the_script_says(
    client: Client,
    namespace: str,
    simulated: Callable[..., str],
    script: dict[str, str],
    phase: str,
    waits_for: str | None,
) -> None:
    client.create(jobset("stuck", pod_template(simulated(1), **script)), namespace)

    def shown() -> Json | None:
        pods = [pod for pod in pods_of(client, namespace) if pod["status"].get("containerStatuses")]
        return pods[0]["status"] if pods else None

    status = eventually("the pod shows a container", shown) or {}
    container = status["containerStatuses"][0]
    assert (status["phase"], container["ready"]) == (phase, False)
    assert container["state"].get("waiting", {}).get("reason") == waits_for
    replicated = eventually(
        "JobSet counts",
        lambda: (
            read(client, JOBSET, "JobSet", namespace, "stuck").get("status", {}).get("replicatedJobsStatus")
        ),
    )
    assert replicated and (replicated[0]["active"], replicated[0]["ready"]) == (1, 0)


def test_a_lost_node_is_noticed(client: Client, namespace: str, simulated: Callable[..., str]) -> None:
    pool = simulated(1)
    client.create(jobset("orphan", pod_template(pool, run="forever")), namespace)
    eventually(
        "the pod runs", lambda: [p for p in pods_of(client, namespace) if p["status"]["phase"] == "Running"]
    )
    lose_node(client, f"{pool}-0")
    node = f"{collection('v1', 'Node')}/{pool}-0"
    eventually("the node is not ready", lambda: condition(client.get(node), "Ready") is None)


@pytest.fixture
def refused_once(plane: Plane) -> Iterator[Callable[[], None]]:
    """KWOK may not write the status of nodes, until this is called."""
    path = f"{collection('rbac.authorization.k8s.io/v1', 'ClusterRole')}/kwok:kwok-controller"
    rules = plane.client.get(path)["rules"]
    plane.client.patch(path, {"rules": [each for each in rules if "nodes/status" not in each["resources"]]})

    def allow() -> None:
        plane.client.patch(path, {"rules": rules})

    yield allow
    allow()


def test_a_node_whose_first_status_was_refused_is_played_all_the_same(
    plane: Plane, refused_once: Callable[[], None]
) -> None:
    name = f"refused-{os.getpid()}"

    def refusals() -> list[Json]:
        mine = plane.audited("system:serviceaccount:kwok-system:kwok")
        return [each for each in mine if each.get("responseStatus", {}).get("code") == 403]

    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(add_nodes, plane.client, 1, pool=name)
        eventually("KWOK is refused", refusals)
        refused_once()
        assert adding.result() == [f"{name}-0"]
    remove_nodes(plane.client, [f"{name}-0"])
