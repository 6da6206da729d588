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


Play = Callable[[list[str]], dict[str, list[str]]]
"""plays cases, all at once; what differs from what was recorded, by the case"""


@pytest.fixture
def play(client: Client, new_namespace: Callable[[], str], node_by_hand: str) -> Play:
    """Plays cases to the real controllers."""

    def played(names: list[str]) -> dict[str, list[str]]:
        cases = {name: yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8")) for name in names}
        namespaces = {name: new_namespace() for name in names}
        with ThreadPoolExecutor(len(names)) as pool:
            futures = {
                name: pool.submit(record, client, namespaces[name], case, node_by_hand)
                for name, case in cases.items()
            }
            differ = {name: _differences(cases[name], future.result()) for name, future in futures.items()}
        return {name: paths for name, paths in differ.items() if paths}

    return played


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


def _differences(case: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    free = [*case.get("mayDiffer", ()), *NOT_SEEN]
    found = differences(case["expect"], seen)
    return [str(each) for each in found if not any(fnmatchcase(each.path, glob) for glob in free)]


def test_the_real_controllers_still_do_what_was_recorded(play: Play) -> None:
    differ = play(PLAYED)
    if differ:  # their deadlines are of seconds, in which a busy machine may not get to its pods
        differ = play(list(differ))
    assert differ == {}
