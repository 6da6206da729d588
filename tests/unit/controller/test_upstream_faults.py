"""What the controller of Trainer 2.3 gets wrong and ours must not: one worker, namesakes, unlocked statuses …

Its other faults have their tests where the subject is: jobs that come back, deadlines that leak, children of
deleted jobs and of namesakes in `test_life.py`, gangs that wait for themselves in `render/test_gang.py`.
"""

import asyncio

import pytest

from kfp_trainer.runtime_operator.controller.caches import Caches
from kfp_trainer.runtime_operator.controller.kinds import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBSETS,
    TRAIN_JOBS,
    TRAINING_RUNTIMES,
)
from kfp_trainer.runtime_operator.controller.settings import ControllerSettings
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, LIMIT_RANGES, PODS, RUNTIME_CLASSES
from kfp_trainer.runtime_operator.render.render import OWN_LABEL
from tests.controller_stage import Stage, job, pod, runtime
from tests.controller_stage.stage import NAMESPACE, VOLCANO
from tests.fake_api import FakeApi, Fault
from tests.virtual_time import in_virtual_time, until


@in_virtual_time
async def test_slow_writes_hold_up_one_job_and_not_all():
    async with Stage(settings=ControllerSettings()) as stage:
        await stage.settle(1)
        stage.transport.write_takes = 1.0
        for number in range(50):
            stage.create_job(f"job-{number}")
        assert await until(lambda: len(stage.api.all(JOBSETS)) == 50) < 5


@in_virtual_time
async def test_a_runtime_of_a_kind_that_nobody_serves_ends_the_job_and_says_so():
    async with Stage() as stage:
        stage.api.create(TRAIN_JOBS, of_unknown_kind())
        await until(stage.conditions)
        assert stage.conditions() == {"Failed": ("True", "RuntimeInvalid")}
        assert "nobody serves 'Blueprint'" in stage.message()


def of_unknown_kind():
    document = job()
    document["spec"]["runtimeRef"] = {"name": "x", "kind": "Blueprint", "apiGroup": "acme.io"}
    return document


@in_virtual_time
async def test_what_the_trainer_reports_survives_what_we_write():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        for percentage in range(0, 100, 10):
            told = {"trainerStatus": {"progressPercentage": percentage}}
            stage.api.change(TRAIN_JOBS, NAMESPACE, "bert", {"status": told})
            stage.report(ready=1, active=percentage % 2)
            await stage.settle(1)
        stage.end()
        await stage.settle()
        assert stage.status()["trainerStatus"] == {"progressPercentage": 90}
        assert stage.conditions() == {"Complete": ("True", "AllJobsCompleted")}


@in_virtual_time
async def test_a_status_that_was_decided_on_an_old_job_is_not_written():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        failed = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "m"}
        failed["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        status = {"conditions": [failed], "completionTime": "2026-01-01T00:00:00Z"}
        stage.api.faults.add(Fault("drop", verb="event", resource=TRAIN_JOBS))
        stage.api.change(TRAIN_JOBS, NAMESPACE, "bert", {"status": status})  # by the leader before us
        stage.end()
        await stage.settle(2 * stage.settings.resync_every)
        assert stage.conditions() == {"Failed": ("True", "DeadlineExceeded")}


@in_virtual_time
async def test_signs_of_percent_in_an_error_are_told_as_they_are():
    async with Stage() as stage:

        def refuse(resource, old, new):
            if resource is JOBSETS:
                raise api_error(422, "Invalid", "100%s of %d: no")

        stage.api.admission.append(refuse)
        stage.create_job()
        await until(lambda: stage.status(), limit=10)
        assert "100%s of %d: no" in stage.status()["why"]
        assert any("100%s of %d: no" in message for _, message in stage.events.told)


@in_virtual_time
async def test_a_mistake_in_one_job_costs_no_other(caplog):
    async with Stage() as stage:
        known = stage.operator.caches.jobs.get

        def with_a_mistake(key):
            if key[1] == "broken":
                raise ZeroDivisionError
            return known(key)

        stage.operator.caches.jobs.get = with_a_mistake
        stage.create_job("broken")
        stage.create_job()
        await stage.until_jobset()
        assert "lab/broken: a mistake of this program" in caplog.text


# who wakes whom


async def woken(api, change):
    """The jobs that a change wakes."""
    keys = []
    caches = Caches(api.transport(), ControllerSettings(), keys.append)
    task = asyncio.create_task(caches.run())
    await caches.synced()
    keys.clear()
    change()
    await asyncio.sleep(5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return sorted(set(keys))


def populated():
    api = FakeApi(TRAIN_JOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES, JOBSETS, VOLCANO)
    for namespace in ("lab", "shop"):
        rests = job("rests", suspend=True)
        rests["metadata"]["namespace"] = namespace
        api.create(TRAIN_JOBS, rests)
    owner = api.create(TRAIN_JOBS, job("runs"))["metadata"]
    reference = {"kind": "TrainJob", "name": "runs", "uid": owner["uid"], "controller": True}
    api.create(
        JOBSETS,
        {"metadata": {"name": "runs", "namespace": "lab", "ownerReferences": [reference]}, "spec": {}},
    )
    return api, reference


def child(reference):
    return {"name": "x", "namespace": "lab", "ownerReferences": [reference], "labels": {OWN_LABEL: "runs"}}


ALL_REST = [("lab", "rests"), ("shop", "rests")]
WAKES = {
    "a RuntimeClass wakes what rests, in all namespaces": (
        lambda api, _: api.create(RUNTIME_CLASSES, {"metadata": {"name": "kata"}}),
        ALL_REST,
    ),
    "a LimitRange wakes what rests in its namespace": (
        lambda api, _: api.create(LIMIT_RANGES, {"metadata": {"name": "x", "namespace": "shop"}}),
        [("shop", "rests")],
    ),
    "a runtime wakes the jobs that have nothing yet": (
        lambda api, _: api.create(CLUSTER_TRAINING_RUNTIMES, runtime("torch")),
        ALL_REST,
    ),
    "another runtime wakes nobody": (
        lambda api, _: api.create(CLUSTER_TRAINING_RUNTIMES, runtime("other")),
        [],
    ),
    "a runtime of a namespace is another one": (
        lambda api, _: api.create(
            TRAINING_RUNTIMES, {**runtime(), "metadata": {"name": "torch", "namespace": "lab"}}
        ),
        [],
    ),
    "a JobSet wakes its job": (
        lambda api, _: api.change(JOBSETS, "lab", "runs", {"status": {"restarts": 1}}),
        [("lab", "runs")],
    ),
    "a JobSet of nobody wakes nobody": (
        lambda api, _: api.create(JOBSETS, {"metadata": {"name": "other", "namespace": "lab"}}),
        [],
    ),
    "a ConfigMap of ours wakes its job": (
        lambda api, reference: api.create(CONFIG_MAPS, {"metadata": child(reference)}),
        [("lab", "runs")],
    ),
    "a PodGroup wakes its job": (
        lambda api, reference: api.create(VOLCANO, {"metadata": child(reference)}),
        [("lab", "runs")],
    ),
    "a pod wakes its job": (
        lambda api, _: api.create(PODS, pod(api.get(JOBSETS, "lab", "runs"), phase="Running")),
        [("lab", "runs")],
    ),
}


@pytest.mark.parametrize("sentence", WAKES)
@in_virtual_time
async def test_who_is_woken(sentence):
    change, want = WAKES[sentence]
    api, reference = populated()
    assert await woken(api, lambda: change(api, reference)) == want
