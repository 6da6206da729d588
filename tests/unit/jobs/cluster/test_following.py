"""A job in a cluster is followed to its end, across cut watches and an API server that is away."""

import asyncio

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed
from kfp_trainer.runtime_operator.jobs.cluster.adoption import for_a_person
from kfp_trainer.runtime_operator.jobs.cluster.creation import settle
from kfp_trainer.runtime_operator.jobs.cluster.following import Follower
from kfp_trainer.runtime_operator.jobs.cluster.kinds import TRAIN_JOBS
from kfp_trainer.runtime_operator.jobs.cluster.request import prepare
from kfp_trainer.runtime_operator.jobs.protocol import SPEAKER, Event, Line, Progress, Whose
from kfp_trainer.runtime_operator.kube.resource import EVENTS, PODS
from tests.fake_api.faults import Fault
from tests.fake_api.server import FakeApi
from tests.virtual_time import in_virtual_time

LAB = "lab"
JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert", "namespace": LAB},
    "spec": {"runtimeRef": {"name": "torch"}},
}


def pod(name, index="0", job="node"):
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "bert",
        "jobset.sigs.k8s.io/replicatedjob-name": job,
        "jobset.sigs.k8s.io/job-index": "0",
        "batch.kubernetes.io/job-completion-index": index,
    }
    return {
        "metadata": {"name": name, "namespace": LAB, "labels": labels},
        "spec": {"containers": [{"name": "node"}]},
        "status": {"phase": "Running"},
    }


def event(name, about, reason):
    return {
        "metadata": {"name": name, "namespace": LAB},
        "involvedObject": about,
        "reason": reason,
        "message": reason.lower(),
        "type": "Warning",
        "lastTimestamp": "2026-01-01T00:00:09Z",
    }


def condition(kind):
    return {"type": kind, "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "t"}


def log(api, name, *lines):
    stamped = [f"2026-01-01T00:00:{second:02}Z {text}" for second, text in enumerate(lines)]
    api.logs[(LAB, name, "node")] = stamped


async def life(api, *, end="Complete"):
    """What a cluster does with a job of two nodes."""
    await asyncio.sleep(1)
    for index in ("0", "1"):
        api.create(PODS, pod(f"bert-node-0-{index}-abcde", index))
        log(api, f"bert-node-0-{index}-abcde", f"rank {index} begins", f"rank {index} ends")
    api.create(EVENTS, event("one", {"kind": "Pod", "name": "bert-node-0-0-abcde"}, "BackOff"))
    api.create(EVENTS, event("two", {"kind": "Pod", "name": "other-node-0-0-abcde"}, "Foreign"))
    await asyncio.sleep(1)
    progress = {"trainerStatus": {"progressPercentage": 50, "metrics": [{"name": "loss", "value": "0.5"}]}}
    api.change(TRAIN_JOBS, LAB, "bert", {"status": progress})
    await asyncio.sleep(120)
    for each in api.all(PODS):
        api.change(PODS, LAB, each["metadata"]["name"], {"status": {"phase": "Succeeded"}})
    api.change(TRAIN_JOBS, LAB, "bert", {"status": {"conditions": [condition(end)]}})


async def followed(api, happening, *, whose=SPEAKER, tail=None, seconds=600.0):
    """All news of a job while something happens."""
    happens = asyncio.create_task(happening)
    follower = Follower(api.transport(), LAB, "bert", whose=whose, tail=tail)
    news = [each async for each in follower.news(seconds=seconds)]
    happens.cancel()
    return news


def lines(news):
    return [each.text for each in news if isinstance(each, Line)]


@in_virtual_time
async def test_lines_of_the_first_node_events_and_progress_are_told():
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)
    news = await followed(api, life(api))
    assert lines(news) == ["rank 0 begins", "rank 0 ends"]
    assert [each.reason for each in news if isinstance(each, Event)] == ["BackOff"]
    assert [each.percent for each in news if isinstance(each, Progress)] == [50]


OF_RANK_0, OF_RANK_1 = ["rank 0 begins", "rank 0 ends"], ["rank 1 begins", "rank 1 ends"]
WHOSE = {
    "of all": (Whose(everybody=True), OF_RANK_0 + OF_RANK_1),
    "of one pod": (Whose(pod="bert-node-0-1-abcde"), OF_RANK_1),
    "of a role, however it is spelled": (Whose(role="Node"), OF_RANK_0 + OF_RANK_1),
    "of a role that has no pods": (Whose(role="launcher"), []),
    "of a container that is not there": (Whose(everybody=True, container="sidecar"), []),
}


@pytest.mark.parametrize("sentence", WHOSE)
@in_virtual_time
async def test_the_lines_that_are_asked_for_are_told(sentence):
    whose, expected = WHOSE[sentence]
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)
    assert sorted(lines(await followed(api, life(api), whose=whose))) == expected


@in_virtual_time
async def test_it_begins_with_the_last_lines_and_goes_on():
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)

    async def goes_on():
        api.create(PODS, pod("bert-node-0-0-abcde"))
        log(api, "bert-node-0-0-abcde", "one", "two")
        await asyncio.sleep(30)
        log(api, "bert-node-0-0-abcde", "one", "two", "three", "four")
        await asyncio.sleep(30)
        api.change(PODS, LAB, "bert-node-0-0-abcde", {"status": {"phase": "Succeeded"}})
        api.change(TRAIN_JOBS, LAB, "bert", {"status": {"conditions": [condition("Complete")]}})

    assert lines(await followed(api, goes_on(), tail=1)) == ["two", "three", "four"]


TROUBLE = {
    "watches are cut": lambda api: api.cut(),
    "history is compacted": lambda api: (api.compact(), api.cut()),
    "the API server goes away": lambda api: api.stop(),
    "the API server hangs": lambda api: api.hang(),
}


@pytest.mark.parametrize("sentence", TROUBLE)
@in_virtual_time
async def test_the_end_is_seen_although(sentence):
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)

    async def happening():
        living = asyncio.create_task(life(api, end="Failed"))
        for _ in range(3):
            await asyncio.sleep(20)
            TROUBLE[sentence](api)
            await asyncio.sleep(15)
            api.start()
        await living

    assert lines(await followed(api, happening())) == ["rank 0 begins", "rank 0 ends"]


@in_virtual_time
async def test_a_job_that_is_deleted_meanwhile_is_an_error():
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)

    async def happening():
        await asyncio.sleep(5)
        api.remove(TRAIN_JOBS, LAB, "bert")

    with pytest.raises(JobFailed, match="TrainJob bert: was deleted while it was followed"):
        await followed(api, happening())


@in_virtual_time
async def test_the_end_of_a_job_may_be_told_before_its_pods_are():
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)
    api.faults.add(Fault("drop", resource=PODS, times=-1))
    assert lines(await followed(api, life(api))) == ["rank 0 begins", "rank 0 ends"]


@in_virtual_time
async def test_patience_ends_when_it_is_told_to():
    api = FakeApi(TRAIN_JOBS)
    api.create(TRAIN_JOBS, JOB)
    assert await followed(api, asyncio.sleep(0), seconds=30.0) == []


@in_virtual_time
async def test_two_who_ask_at_once_get_one_job():
    api = FakeApi(TRAIN_JOBS)
    request = prepare(JOB, namespace=LAB)

    async def ask():
        decide = lambda found: for_a_person(found, request)  # noqa: E731
        return await settle(api.transport(), LAB, request, owner="", decide=decide)

    assert await asyncio.gather(ask(), ask(), ask()) == ["bert"] * 3
    assert len(api.all(TRAIN_JOBS)) == 1
