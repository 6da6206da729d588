"""What the overlays for schedulers add is taken by the schedulers' own kinds, and gangs get in by it."""

import subprocess
from collections.abc import Iterator

import pytest
import yaml

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.site import ROOT

pytestmark = pytest.mark.parts("volcano")

KINDS = {"Queue", "PriorityClass"}


def added(overlay: str) -> list[Json]:
    """What an overlay has beside the operator."""
    command = ["kubectl", "kustomize", str(ROOT / "manifests" / "overlays" / overlay)]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [each for each in yaml.load_all(built, Loader=yaml.CSafeLoader) if each["kind"] in KINDS]


@pytest.fixture
def applied(cluster: Cluster, client: Client) -> Iterator[list[Json]]:
    """The additions of the overlay `volcano`, until the test ends."""
    documents = added("volcano")
    for each in documents:
        client.apply(each)
    yield documents
    for each in documents:
        client.delete(f"{collection(each['apiVersion'], each['kind'])}/{each['metadata']['name']}")


def test_the_queue_is_open_and_the_priorities_are_known(applied: list[Json], client: Client) -> None:
    assert {each["kind"] for each in applied} == KINDS
    queue = f"{collection('scheduling.volcano.sh/v1beta1', 'Queue')}/training"
    eventually("Volcano opens the queue", lambda: client.get(queue).get("status", {}).get("state") == "Open")
    classes = collection("scheduling.k8s.io/v1", "PriorityClass")
    values = {each["metadata"]["name"]: each["value"] for each in client.items(classes)}
    assert values["training-low"] < 0 < values["training-high"]
