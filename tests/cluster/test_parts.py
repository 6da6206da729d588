"""What the parts have in common: who they are, and how they are stopped and started with other settings."""

import json

import pytest

from tests.cluster.control_plane.client import Json, collection
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import ADMIN

TRAINER = "trainer.kubeflow.org/v1alpha1"
LIMITS = {"clientConnection": {"qps": 500, "burst": 1000}}


def runtime(name: str) -> Json:
    """A runtime that the peer's webhook admits."""
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": []}}}
    return {"apiVersion": TRAINER, "kind": "TrainingRuntime", "metadata": {"name": name}, "spec": spec}


# who speaks as the administrator: the tests' own client, kubectl, our operator where a test runs it beside
TESTS_OWN = {"", "kubectl", "kubectl-dispatcher", "kfp-trainer"}


@pytest.mark.parts("trainer")
def test_a_part_starts_again_with_other_settings(plane: Plane, namespace: str) -> None:
    plane.stop_part("trainer")
    try:
        assert "trainer" not in plane.site.processes
        plane.client.create(runtime("asks-nobody"), namespace)
        plane.start_part("trainer", settings=LIMITS)
        config = json.loads((plane.site.folder / "trainer.json").read_text(encoding="utf-8"))
        assert config["clientConnection"] == LIMITS["clientConnection"]
        plane.client.create(runtime("asked"), namespace)
        plane.client.delete(collection(TRAINER, "TrainingRuntime", namespace))
        plane.stop_part("trainer")
    finally:
        plane.start_part("trainer")


@pytest.mark.parts("scheduler")
def test_a_program_gets_more_flags(plane: Plane) -> None:
    plane.stop_part("scheduler")
    plane.start_part("scheduler", flags=["--v=2"])
    pid = plane.site.processes["scheduler"].pid
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as command:
        assert command.read().endswith("--v=2\0")
    plane.stop_part("scheduler")
    plane.start_part("scheduler")


@pytest.mark.parts("scheduler", "kwok", "jobset", "trainer", "volcano", "coscheduling", "kueue")
def test_no_program_is_an_administrator_and_each_may_do_what_it_asks(plane: Plane) -> None:
    agents = {each.get("userAgent", "").partition("/")[0] for each in plane.audited(ADMIN)}
    assert agents <= TESTS_OWN
    accounts = {
        f"system:serviceaccount:{part}-system:{program}" for part in PARTS for program in PARTS[part].accounts
    }
    asked = {account: plane.audited(account) for account in accounts}
    assert all(asked.values()), "each of them has asked for something"
    decided: dict[str, set[tuple[str, str, str]]] = {"allow": set(), "forbid": set()}
    for account, events in asked.items():
        for event in events:
            what = event.get("objectRef", {}).get("resource", "") or event["requestURI"]
            decision = event["annotations"].get("authorization.k8s.io/decision", "allow")
            decided[decision].add((account, event["verb"], what))
    assert decided["forbid"] <= decided["allow"]  # an API server that is just starting knows no roles yet
