"""The finalizer of older Trainers goes from runtimes, and nothing else does."""

from __future__ import annotations

import asyncio
from typing import Any

from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES
from kfp_trainer.runtime_operator.kube.errors import Forbidden
from kfp_trainer.runtime_operator.kube.informer import Informer
from kfp_trainer.runtime_operator.service.old_finalizers import FINALIZER, strip_forever
from tests.fake_api import FakeApi, Fault
from tests.virtual_time import in_virtual_time, until


def runtime(name: str, *finalizers: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name, "finalizers": list(finalizers), **metadata},
        "spec": {},
    }


def finalizers(api: FakeApi, name: str) -> list[str]:
    found = api.need(CLUSTER_TRAINING_RUNTIMES, "", name)
    return list(found["metadata"].get("finalizers") or ())


async def stripping(api: FakeApi) -> list[asyncio.Task[None]]:
    transport = api.transport()
    informers = [
        Informer(transport, each, lambda key, old, new: None)
        for each in (CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES)
    ]
    tasks = [asyncio.create_task(each.run()) for each in informers]
    return [*tasks, asyncio.create_task(strip_forever(transport, informers))]


async def stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@in_virtual_time
async def test_it_goes_and_others_stay() -> None:
    api = FakeApi(CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES)
    api.create(CLUSTER_TRAINING_RUNTIMES, runtime("old", "example.com/mine", FINALIZER))
    api.create(CLUSTER_TRAINING_RUNTIMES, runtime("new", "example.com/mine"))
    api.create(
        CLUSTER_TRAINING_RUNTIMES, runtime("tells-of-it", "example.com/mine", annotations={"was": FINALIZER})
    )
    tasks = await stripping(api)
    await until(lambda: finalizers(api, "old") == ["example.com/mine"])
    await asyncio.sleep(60)
    assert [write.key[1] for write in api.writes] == ["old"]
    api.create(CLUSTER_TRAINING_RUNTIMES, runtime("later", FINALIZER))
    assert await until(lambda: finalizers(api, "later") == []) <= 10
    await stop(tasks)


@in_virtual_time
async def test_a_runtime_that_was_deleted_goes_with_it() -> None:
    api = FakeApi(CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES)
    api.create(CLUSTER_TRAINING_RUNTIMES, runtime("old", FINALIZER))
    api.remove(CLUSTER_TRAINING_RUNTIMES, "", "old")
    tasks = await stripping(api)
    await until(lambda: api.get(CLUSTER_TRAINING_RUNTIMES, "", "old") is None)
    await stop(tasks)


@in_virtual_time
async def test_what_is_refused_is_tried_again() -> None:
    api = FakeApi(CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES)
    api.create(CLUSTER_TRAINING_RUNTIMES, runtime("old", FINALIZER))
    api.faults.add(Fault("refuse", verb="patch", times=3, error=Forbidden(403, "Forbidden", "not yet")))
    tasks = await stripping(api)
    await until(lambda: finalizers(api, "old") == [])
    await stop(tasks)
