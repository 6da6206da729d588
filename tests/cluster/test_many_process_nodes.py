"""Several process nodes: pods meet across them, and losing one is losing the pods that it ran."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, collection, eventually
from tests.cluster.control_plane.nodes import NODES, pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import JOBSET, jobset, read
from tests.cluster.pod_programs import container, pod, python
from tests.cluster.process_node.starting import process_nodes

pytestmark = pytest.mark.parts("scheduler", "jobset", "process-node")

MEET = """
import os, socket, sys, time
host, rank = sys.argv[1], os.environ["JOB_COMPLETION_INDEX"]
if rank == "0":
    with socket.create_server(("", 5000)) as server:
        print("met by", server.accept()[0].recv(100).decode(), flush=True)
else:
    while True:
        try:
            socket.create_connection((host, 5000)).sendall(b"rank " + rank.encode())
            break
        except OSError:
            time.sleep(0.2)
time.sleep(float(sys.argv[2]))
"""
POOL = "many"


@pytest.fixture
def nodes(plane: Plane) -> Iterator[list[str]]:
    with process_nodes(plane, 2, pool=POOL, cpu=1, memory="1Gi", gpus=1) as names:
        yield names


def gang(name: str, seconds: int, **more: Any) -> dict[str, Any]:
    """Two pods of which each fills a node, and which meet by the first one's name."""
    room = {"limits": {"nvidia.com/gpu": 1, "cpu": "1"}}
    made = container(*python(MEET, f"{name}-node-0-0.{name}", str(seconds)), resources=room)
    template = pod(name, made, pool=POOL, **more)
    return jobset(name, {"metadata": {}, "spec": template["spec"]}, pods=2, failurePolicy={"maxRestarts": 1})


def places(client: Client, namespace: str) -> dict[str, str]:
    """The node of each pod that runs."""
    found = [each for each in pods_of(client, namespace) if each["status"]["phase"] == "Running"]
    return {each["metadata"]["name"]: each["spec"]["nodeName"] for each in found}


def test_the_pods_of_a_job_meet_across_nodes(client: Client, namespace: str, nodes: list[str]) -> None:
    client.create(gang("meet", 2), namespace)
    used = eventually("both run", lambda: two(places(client, namespace)))
    assert sorted(used.values()) == nodes
    eventually(
        "it completes",
        lambda: read(client, JOBSET, "JobSet", namespace, "meet").get("status", {}).get("terminalState"),
    )
    pods = {
        each["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]: each
        for each in pods_of(client, namespace)
    }
    path = f"{collection('v1', 'Pod', namespace)}/{pods['0']['metadata']['name']}"
    assert client.text("GET", f"{path}/log") == "met by rank 1\n"
    assert {each["status"]["hostIP"] for each in pods.values()} == {address(client, name) for name in nodes}


def address(client: Client, node: str) -> str:
    return str(client.get(f"{NODES}/{node}")["status"]["addresses"][0]["address"])


def two(found: dict[str, str]) -> dict[str, str]:
    return found if len(found) == 2 else {}


def test_a_job_starts_anew_on_other_nodes_when_one_is_lost(
    plane: Plane, namespace: str, nodes: list[str]
) -> None:
    client = plane.client
    gone = [
        {
            "key": f"node.kubernetes.io/{key}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 1,
        }
        for key in ("unreachable", "not-ready")
    ]
    client.create(gang("lost", 600, tolerations=gone), namespace)
    used = eventually("both run", lambda: two(places(client, namespace)))
    victim = nodes[0]
    plane.kill(victim)
    with process_nodes(plane, 1, pool="spare", cpu=1, memory="1Gi", gpus=1) as spares:
        client.patch(f"{NODES}/{spares[0]}", {"metadata": {"labels": {"pool": POOL}}})
        taint = {"key": "node.kubernetes.io/out-of-service", "value": "gone", "effect": "NoExecute"}
        client.patch(f"{NODES}/{victim}", {"spec": {"taints": [taint]}})
        again = eventually(
            "both run elsewhere",
            lambda: two(places(client, namespace)) if restarts(client, namespace) else {},
            limit=150,
            say=lambda: str([each["status"] for each in pods_of(client, namespace)]),
        )
        assert sorted(again.values()) == sorted([nodes[1], *spares])
        assert not again.keys() & used.keys()


def restarts(client: Client, namespace: str) -> int:
    return int(read(client, JOBSET, "JobSet", namespace, "lost").get("status", {}).get("restarts", 0))
