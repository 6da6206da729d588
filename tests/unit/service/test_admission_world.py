"""What admission finds in the controller's caches, and what it asks for itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES
from kfp_trainer.runtime_operator.kube.errors import Unreachable
from kfp_trainer.runtime_operator.kube.resource import LIMIT_RANGES, PRIORITY_CLASSES
from kfp_trainer.runtime_operator.service.admission_world import AdmissionWorld
from kfp_trainer.runtime_operator.service.parts import Parts
from kfp_trainer.runtime_operator.service.settings import ServiceSettings
from tests.fake_api import FakeApi, Fault

CERTIFICATE = {"metadata": {"name": "kubeflow-trainer-webhook-cert"}, "data": {"ca.crt": "eA=="}}


@pytest.fixture
async def world(api: FakeApi) -> AsyncIterator[AdmissionWorld]:
    """With caches that know what was there."""
    for name, namespace in (("small", "team"), ("large", "other")):
        metadata = {"name": name, "namespace": namespace}
        api.create(LIMIT_RANGES, {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata})
    parts = Parts(api.transport(), ServiceSettings(), "system")
    parts.certificate = lambda: CERTIFICATE  # type: ignore[method-assign]
    made = AdmissionWorld(parts.transport, parts.operator.caches, parts.facts, parts.certificate)
    tasks = [asyncio.create_task(each) for each in (parts.operator.watch(), made.priority_classes.run())]
    await parts.operator.synced()
    yield made
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def gets(api: FakeApi) -> list[tuple[str, str]]:
    return [call for call in api.calls if call[0] == "get"]


async def test_a_known_runtime_costs_no_request(api: FakeApi, world: AdmissionWorld, job: Any) -> None:
    found = await world.runtime(job)
    assert found is not None
    assert found.name == "plain"
    assert gets(api) == []


async def test_a_runtime_that_is_new_is_asked_for(api: FakeApi, world: AdmissionWorld, job: Any) -> None:
    known = api.need(CLUSTER_TRAINING_RUNTIMES, "", "plain")
    made = {**known, "kind": "TrainingRuntime", "metadata": {"name": "new", "namespace": "team"}}
    api.faults.add(Fault("drop", resource=TRAINING_RUNTIMES))
    api.create(TRAINING_RUNTIMES, made)
    job["spec"]["runtimeRef"] = {"name": "new", "kind": "TrainingRuntime"}
    found = await world.runtime(job)
    assert found is not None
    assert found.name == "new"
    assert len(gets(api)) == 1


async def test_a_runtime_that_is_nowhere(api: FakeApi, world: AdmissionWorld, job: Any) -> None:
    job["spec"]["runtimeRef"]["name"] = "nowhere"
    assert await world.runtime(job) is None
    job["spec"]["runtimeRef"]["kind"] = "Deployment"
    assert await world.runtime(job) is None
    assert len(gets(api)) == 1


async def test_an_api_server_that_is_away_is_no_answer(api: FakeApi, world: AdmissionWorld, job: Any) -> None:
    job["spec"]["runtimeRef"]["name"] = "nowhere"
    api.stop()
    with pytest.raises(Unreachable):
        await world.runtime(job)
    api.start()


async def test_what_exists_beside_a_job(api: FakeApi, world: AdmissionWorld, job: Any) -> None:
    metadata = {"name": "urgent"}
    api.create(
        PRIORITY_CLASSES,
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata},
    )
    async with asyncio.timeout(30):
        while not len(world.priority_classes):
            await asyncio.sleep(0.02)
    facts = await world.facts(job)
    assert facts.existing.keys() == {
        ("LimitRange", "small"),
        ("PriorityClass", "urgent"),
        ("Secret", "kubeflow-trainer-webhook-cert"),
    }
    assert facts.looked_up == {"PriorityClass"}
    assert facts.operator_namespace == "system"


async def test_the_runtimes_a_job_may_mean(api: FakeApi, world: AdmissionWorld) -> None:
    assert [each["metadata"]["name"] for each in world.runtimes("team")] == ["plain"]
