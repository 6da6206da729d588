"""What a step reads before it launches: its own pod, and the runtime by the kind that has the name."""

import asyncio
import json
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.kube.errors import Forbidden, NotFound
from kfp_trainer.runtime_operator.launch import looking
from kfp_trainer.runtime_operator.launch.looking import look_around, read_runtime
from kfp_trainer.runtime_operator.launch.surroundings import Surroundings

POD = {"metadata": {"name": "step-1"}}
OWN, SHARED = {"kind": "TrainingRuntime"}, {"kind": "ClusterTrainingRuntime"}


class Lab:
    """A cluster in which this pod lives."""

    namespace = "lab"


class FakeTransport:
    """Gives what there is, by plural and name."""

    there: dict[tuple[str, str], Any]

    def __init__(self, _cluster: object, *, connections: int) -> None:
        assert connections < 10

    async def __aenter__(self) -> "FakeTransport":
        return self

    async def __aexit__(self, *_error: object) -> None:
        pass

    async def get(self, resource: Any, namespace: str, name: str) -> bytes:
        assert namespace == "lab"
        found = self.there.get((resource.plural, name), NotFound(404, "NotFound", "there is none"))
        if isinstance(found, Exception):
            raise found
        return json.dumps(found).encode()


@pytest.fixture(autouse=True)
def transport(monkeypatch: pytest.MonkeyPatch) -> type[FakeTransport]:
    monkeypatch.setattr(looking, "HttpTransport", FakeTransport)
    monkeypatch.setattr(looking, "is_in_cluster", lambda environ: "POD" in environ)
    FakeTransport.there = {("pods", "step-1"): POD}
    return FakeTransport


PODS = {
    "a pod of a pipeline": ({"POD": "1", "KFP_POD_NAME": "step-1", "HOSTNAME": "another"}, Surroundings(POD)),
    "any other pod, by its host name": ({"POD": "1", "HOSTNAME": "step-1"}, Surroundings(POD)),
    "a pod with another host name": ({"POD": "1", "HOSTNAME": "mine"}, Surroundings()),
    "a laptop": ({"HOSTNAME": "step-1"}, Surroundings()),
}


@pytest.mark.parametrize("sentence", PODS)
def test_a_step_looks_at_its_own_pod(sentence: str) -> None:
    environ, want = PODS[sentence]
    assert asyncio.run(look_around(Lab(), environ)) == want


def test_a_step_that_may_not_is_told_what_to_apply(transport: type[FakeTransport]) -> None:
    transport.there["pods", "step-1"] = Forbidden(403, "Forbidden", "pods is forbidden")
    with pytest.raises(SetupError, match="pods is forbidden; apply manifests/kfp"):
        asyncio.run(look_around(Lab(), {"POD": "1", "KFP_POD_NAME": "step-1"}))


RUNTIMES = {
    "that of the namespace comes first": (
        {},
        {"trainingruntimes": OWN, "clustertrainingruntimes": SHARED},
        OWN,
    ),
    "else that of the cluster": ({}, {"clustertrainingruntimes": SHARED}, SHARED),
    "where a kind is said it counts": (
        {"kind": "ClusterTrainingRuntime"},
        {"trainingruntimes": OWN, "clustertrainingruntimes": SHARED},
        SHARED,
    ),
    "none is told by admission": ({}, {}, {}),
    "one that may not be read is as none": ({}, {"clustertrainingruntimes": Forbidden(403, "", "no")}, {}),
}


@pytest.mark.parametrize("sentence", RUNTIMES)
def test_a_runtime_is_read_by_its_name(sentence: str, transport: type[FakeTransport]) -> None:
    said, there, want = RUNTIMES[sentence]
    transport.there = {(plural, "torch"): found for plural, found in there.items()}
    job = {"spec": {"runtimeRef": {"name": "torch", **said}}}
    assert asyncio.run(read_runtime(Lab(), "lab", job)) == want
