"""The recorded cases of JobSet stay true: ten of them are played again to the real controllers, at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.control_plane.client import Client
from tests.cluster.recorded.script import record
from tests.conformance_jobset.compare import differences

pytestmark = pytest.mark.parts("jobset")

CASES = Path(__file__).parents[1] / "conformance_jobset" / "cases"
PLAYED = (
    "bad-depends-unknown backoff-0-never deadline delete-job depends-chain depends-ready exit-codes-decide"
    " max-restarts-1 slow-stop-suspend success-any"
).split()
NOT_SEEN = [
    "steps.*.appeared",
    *(f"steps.*.pods.*.{detail}" for detail in ("systemLabels*", "env*", "hostname", "subdomain")),
]


@pytest.fixture
def recorded(
    client: Client, new_namespace: Callable[[], str], node_by_hand: str
) -> dict[str, dict[str, Any]]:
    """What the real controllers did with each case."""
    cases = {name: yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8")) for name in PLAYED}
    namespaces = {name: new_namespace() for name in PLAYED}
    with ThreadPoolExecutor(len(PLAYED)) as pool:
        futures = {
            name: pool.submit(record, client, namespaces[name], case, node_by_hand)
            for name, case in cases.items()
        }
        return {name: {"case": cases[name], "seen": future.result()} for name, future in futures.items()}


@pytest.fixture
def node_by_hand(client: Client) -> Iterator[str]:
    """A node whose pods are played by the script; its Lease is renewed, so that it is not taken for lost."""
    name = "by-hand"
    room = {"cpu": "64", "memory": "256Gi", "pods": "250"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    over = threading.Event()
    thread = threading.Thread(target=keep_lease, args=(client, name, over))
    thread.start()
    yield name
    over.set()
    thread.join()
    client.delete(f"/api/v1/nodes/{name}")


def keep_lease(client: Client, node: str, over: threading.Event) -> None:
    while not over.wait(3.0):
        renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": node, "leaseDurationSeconds": 8, "renewTime": renewed}
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": node},
            "spec": spec,
        }
        client.apply(lease, "kube-node-lease")


def test_the_real_controllers_still_do_what_was_recorded(recorded: dict[str, dict[str, Any]]) -> None:
    found = {
        name: [
            str(each)
            for each in differences(played["case"]["expect"], played["seen"])
            if not any(
                fnmatchcase(each.path, glob) for glob in [*played["case"].get("mayDiffer", ()), *NOT_SEEN]
            )
        ]
        for name, played in recorded.items()
    }
    assert {name: paths for name, paths in found.items() if paths} == {}
