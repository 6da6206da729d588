"""Whatever goes wrong on the way, a job ends as it does on a quiet day: nothing twice, nothing lost.

The story: a gang with keys or without is created, runs, rests, runs again and completes. It is told once
quietly, and again with each fault at each point; the worlds at the end are compared.
"""

import asyncio

import pytest

from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAIN_JOBS
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, PODS, SECRETS
from tests.controller_stage import GANG, Stage, runtime
from tests.controller_stage.cast import mpi_runtime
from tests.controller_stage.stage import NAMESPACE, VOLCANO
from tests.counts import count
from tests.fake_api import Fault
from tests.virtual_time import in_virtual_time, run_virtually, until

RUNTIMES = {"plain": runtime("plain"), "gang": runtime("gang", gang=GANG), "mpi": mpi_runtime("mpi")}
PATIENCE = 400.0  # longer than a resync
OF_TIME = ("lastTransitionTime", "creationTimestamp", "startTime", "completionTime")
OF_CHANCE = ("uid", "resourceVersion", "generation", "data", "managedFields")


async def story(stage, name, *, between=None):
    """Tell it; `between` is called before each act."""
    for each in RUNTIMES.values():
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, each)
    acts = (
        lambda: stage.create_job(runtime=name),
        lambda: stage.report(active=1),
        lambda: stage.report(active=1, ready=1),
        lambda: stage.change_job(suspend=True),
        lambda: stage.report(suspended=1),
        lambda: stage.change_job(suspend=False),
        lambda: stage.report(active=1, ready=1),
        lambda: stage.report(succeeded=1),
        lambda: stage.end(),
    )
    for number, act in enumerate(acts):
        if number > 0:
            await until_followed(stage)
        if between is not None:
            between(number)
        act()
    await stage.settle(PATIENCE)


async def until_followed(stage):
    """Wait until JobSet and status follow the job; an operator that dies meanwhile is replaced."""
    for _ in range(int(PATIENCE)):
        jobset, rests = stage.jobset(), stage.job()["spec"]["suspend"]
        told = stage.conditions().get("Suspended", ("False",))[0] == "True"
        if jobset is not None and jobset["spec"]["suspend"] == rests == told:
            return await stage.settle(1)
        await stage.settle(1)
    raise AssertionError("the JobSet does not follow")


def world(stage):
    """All there is at the end, without what is of time and chance; and how many JobSets there ever were."""
    kinds = (TRAIN_JOBS, JOBSETS, CONFIG_MAPS, SECRETS, VOLCANO)
    return [plain(each) for kind in kinds for each in stage.api.all(kind)], made(stage, JOBSETS)


def made(stage, resource):
    """How many objects of a kind there ever were."""
    history = stage.api.collection(resource).history
    return sum(event.old == "" for event in history)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in OF_TIME + OF_CHANCE}
    return [plain(each) for each in value] if isinstance(value, list) else value


async def told(name, *faults, between=None):
    stage = Stage()
    async with stage:
        for fault in faults:
            stage.api.faults.add(fault)
        await story(stage, name, between=between)
        return world(stage), len(stage.written()), stage.starts


@pytest.fixture(scope="module")
def quiet():
    return {name: run_virtually(told(name)) for name in RUNTIMES}


@pytest.mark.parametrize("name", RUNTIMES)
def test_on_a_quiet_day_all_is_there_once(quiet, name):
    (objects, jobsets), _, starts = quiet[name]
    job = objects[0]
    assert {each["type"]: each["status"] for each in job["status"]["conditions"]} == {
        "Suspended": "False",
        "Complete": "True",
    }
    kinds = [each["kind"] for each in objects]
    assert jobsets == 1 and starts == 1
    assert kinds.count("JobSet") == 1 and kinds.count("PodGroup") == 0
    assert kinds.count("Secret") == (name == "mpi")


@pytest.mark.parametrize("kind", ["crash", "crash-after"])
@pytest.mark.parametrize("name", RUNTIMES)
def test_a_crash_at_every_write_leaves_no_trace(quiet, name, kind):
    want, writes, _ = quiet[name]
    assert writes >= 8
    for point in range(writes):
        seen, _, starts = run_virtually(told(name, Fault(kind, verb="write", skip=point)))
        assert starts == 2, f"there is no write {point}"
        assert seen == want, f"write {point}"


@pytest.mark.parametrize("kind", ["lose", "refuse", "hang"])
@pytest.mark.parametrize("name", RUNTIMES)
def test_a_write_that_fails_is_made_good(quiet, name, kind):
    want, writes, _ = quiet[name]
    for point in range(writes):
        seen, _, _ = run_virtually(told(name, Fault(kind, verb="write", skip=point)))
        assert seen == want, f"write {point}"


@pytest.mark.parametrize("status", [429, 500, 503, 409])
def test_many_refusals_delay_and_change_nothing(quiet, status):
    error = api_error(status, "", "broken", retry_after=1.0 if status == 429 else None)
    seen, _, _ = run_virtually(told("gang", Fault("refuse", verb="write", times=7, error=error)))
    assert seen == quiet["gang"][0]


EVENTS = ("drop", "double", "swap", "cut")


@pytest.mark.parametrize("resource", [TRAIN_JOBS, JOBSETS, CONFIG_MAPS, VOLCANO], ids=lambda each: each.kind)
@pytest.mark.parametrize("kind", EVENTS)
def test_events_that_are_missing_doubled_reordered_or_cut(quiet, kind, resource):
    want = quiet["gang"][0]
    for point in range(count(12, sampled=4)):
        seen, _, _ = run_virtually(told("gang", Fault(kind, verb="event", resource=resource, skip=point)))
        assert seen == want, f"event {point}"


@pytest.mark.parametrize("behind", [1, 3, 10])
def test_a_stale_list_after_a_restart(quiet, behind):
    want = quiet["gang"][0]
    for point in range(9):
        seen, starts = run_virtually(_restarted(point, behind))
        assert starts == 2
        assert seen == want, f"act {point}"


async def _restarted(point, behind):
    async with Stage() as stage:

        def between(number):
            if number == point:
                for resource in (TRAIN_JOBS, JOBSETS, CONFIG_MAPS):
                    stage.api.faults.add(Fault("stale", resource=resource, behind=behind))
                stage.transport.dead.set()

        await story(stage, "gang", between=between)
        return world(stage), stage.starts


def test_history_that_is_gone_at_every_act(quiet):
    for point in range(9):
        assert run_virtually(_compacted(point)) == quiet["gang"][0], f"act {point}"


async def _compacted(point):
    async with Stage() as stage:

        def between(number):
            if number == point:
                stage.api.cut()
                stage.api.compact()

        await story(stage, "gang", between=between)
        objects, _ = world(stage)
        return objects, 1


@in_virtual_time
async def test_with_all_events_dropped_a_resync_repairs():
    async with Stage() as stage:
        await stage.settle(1)
        stage.api.faults.add(Fault("drop", verb="event", times=-1))
        stage.create_job()
        assert await until(lambda: stage.jobset(), limit=400) <= 1.1 * stage.settings.resync_every
        stage.end()
        assert await until(stage.conditions, limit=400) <= 1.1 * stage.settings.resync_every + 5


@in_virtual_time
async def test_when_the_api_server_is_back_a_new_job_is_built_within_five_seconds():
    async with Stage() as stage:
        stage.create_job("old")
        await stage.until_jobset("old")
        stage.api.stop()
        await stage.settle(15)
        stage.create_job("new")
        stage.end("old")
        await stage.settle(15)
        stage.api.start()
        assert await until(lambda: stage.jobset("new")) <= 5
        assert await until(lambda: stage.conditions("old")) <= 5


@in_virtual_time
async def test_a_job_that_was_on_its_way_goes_on_within_five_seconds_too():
    async with Stage() as stage:
        error = api_error(503, "", "busy")
        stage.api.faults.add(Fault("refuse", verb="apply", resource=JOBSETS, times=-1, error=error))
        stage.create_job()
        await stage.settle(200)
        stage.api.faults.clear()
        assert await until(lambda: stage.jobset()) <= 5


@in_virtual_time
async def test_half_open_streams_are_noticed():
    async with Stage() as stage:
        await stage.settle(1)
        for resource in (TRAIN_JOBS, JOBSETS):
            stage.api.faults.add(Fault("silent", verb="event", resource=resource))
        stage.create_job()
        assert await until(lambda: stage.jobset(), limit=200) <= 80


@in_virtual_time
async def test_while_the_api_server_hangs_the_silence_is_seen_and_all_goes_on_after_it():
    async with Stage() as stage:
        await stage.settle(1)
        assert stage.operator.silent(200) == []
        stage.api.hang()
        await stage.settle(300)
        assert "trainjobs.trainer.kubeflow.org" in stage.operator.silent(200)
        stage.create_job()
        stage.api.start()
        assert await until(lambda: stage.jobset(), limit=200) <= 80
        assert await until(lambda: not stage.operator.silent(200), limit=200) <= 140


@in_virtual_time
async def test_who_does_not_lead_does_nothing():
    async with Stage() as stage:
        stage._tasks[1].cancel()
        await asyncio.sleep(0.1)
        stage.create_job()
        await stage.settle()
        assert stage.written() == []


@in_virtual_time
async def test_two_operators_at_once_make_one_of_each():
    async with Stage() as stage:
        tasks, stage._tasks = stage._tasks, []
        await stage.start()
        for number in range(20):
            stage.create_job(f"job-{number}")
        await stage.settle()
        assert made(stage, JOBSETS) == 20
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@in_virtual_time
async def test_the_log_of_a_pod_on_a_dead_node_does_not_hold_the_end_up():
    from tests.controller_stage.cast import died

    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.add_pod(**died(1))
        stage.api.faults.add(Fault("hang", verb="log", resource=PODS, times=-1))
        stage.end(how="Failed", reason="FailedJobs")
        assert await until(lambda: stage.conditions()) <= 5
        assert "exit code 1" in stage.message()
        assert stage.api.get(JOBSETS, NAMESPACE, "bert")
