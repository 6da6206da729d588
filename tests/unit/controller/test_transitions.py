"""Whatever is asked of a job, in whatever order, it comes to what was asked last.

Random stories: suspended, resumed, patched as Kueue patches, its JobSet deleted, counted, ended, the
operator killed in between. At the end of each the cluster is as the last word wants it.
"""

import random

import pytest

from kfp_trainer.runtime_operator.conditions import is_true
from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAIN_JOBS
from kfp_trainer.runtime_operator.render.dry_run import read_job, read_runtime
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.render import render
from tests.controller_stage import GANG, Stage, runtime
from tests.controller_stage.stage import NAMESPACE, VOLCANO
from tests.counts import count
from tests.virtual_time import in_virtual_time

MANAGER = "kueue.x-k8s.io/manager"
STEPS = 8


def suspend(stage, chance):
    stage.change_job(suspend=True)


def resume(stage, chance):
    stage.change_job(suspend=False)


def patch(stage, chance):
    """As Kueue does it: only while the job rests."""
    if not stage.job()["spec"]["suspend"]:
        return
    zone = chance.choice(["a", "b", None])
    pods = {"spec": {"nodeSelector": {"zone": zone}}} if zone else {}
    if chance.random() < 0.5:
        pods["metadata"] = {"labels": {"turn": str(chance.randrange(9))}}
    jobs = [{"name": "node", "template": {"spec": {"template": pods}}}]
    given = {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}} if pods else {}
    stage.change_job(runtimePatches=[{"manager": MANAGER, **given}])


def lose_jobset(stage, chance):
    if stage.jobset() is not None:
        stage.api.remove(JOBSETS, NAMESPACE, "bert")


def lose_gang(stage, chance):
    if stage.api.get(VOLCANO, NAMESPACE, "bert"):
        stage.api.remove(VOLCANO, NAMESPACE, "bert")


def change_runtime(stage, chance):
    labels = {"changed": str(chance.randrange(9))}
    stage.api.change(CLUSTER_TRAINING_RUNTIMES, "", "gang", {"metadata": {"labels": labels}})


def report(stage, chance):
    if stage.jobset() is not None:
        stage.report(active=chance.randrange(2), ready=chance.randrange(2))


def die(stage, chance):
    stage.transport.dead.set()


ACTS = (suspend, resume, patch, patch, lose_jobset, lose_gang, change_runtime, report, die)


def as_wanted(stage):
    """What the last word makes of the job, from the runtime as the job first met it."""
    snapshot = stage.api.need(stage_config_maps(), NAMESPACE, "bert-runtime-snapshot")
    found = read_runtime(stage.api.need(CLUSTER_TRAINING_RUNTIMES, "", "gang"))
    facts = Facts(existing={("ConfigMap", "bert-runtime-snapshot"): snapshot})
    return render(read_job(stage.job()), found, facts)


def stage_config_maps():
    from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS

    return CONFIG_MAPS


def mutable(jobset):
    pods = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    metadata = pods.get("metadata") or {}
    return (
        jobset["spec"]["suspend"],
        pods["spec"].get("nodeSelector") or {},
        metadata.get("labels") or {},
        metadata.get("annotations") or {},
    )


async def play(seed):
    chance = random.Random(seed)
    acts = [chance.choice(ACTS) for _ in range(STEPS)]
    told = [each.__name__ for each in acts]
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang", suspend=chance.random() < 0.5)
        for act in acts:
            await stage.settle(chance.choice([0.0, 0.004, 0.02, 1.0, 15.0]))
            act(stage, chance)
        await stage.settle()
        wanted = as_wanted(stage)
        assert mutable(stage.jobset()) == mutable(wanted.find("JobSet")), (seed, told)
        is_resting = stage.job()["spec"]["suspend"]
        assert bool(stage.api.all(VOLCANO)) == (not is_resting), (seed, told)
        assert is_true(stage.status().get("conditions") or (), "Suspended") == is_resting, (seed, told)
        before = len(stage.written())
        await stage.settle(2 * stage.settings.resync_every)
        assert stage.written()[before:] == [], (seed, told)


@pytest.mark.parametrize("block", range(10))
@in_virtual_time
async def test_it_comes_to_what_was_asked_last(block):
    for seed in range(count(20, sampled=4)):
        await play(block * 1000 + seed)


ENDINGS = {
    "complete": lambda stage: stage.end(),
    "failed": lambda stage: stage.end(how="Failed", reason="FailedJobs"),
    "cancelled": lambda stage: stage.api.change(
        TRAIN_JOBS, NAMESPACE, "bert", {"metadata": {"annotations": {"kfp-trainer/cancel": "true"}}}
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
@in_virtual_time
async def test_after_its_end_nothing_wakes_it(ending):
    for seed in range(count(50, sampled=8)):
        chance = random.Random(seed)
        async with Stage() as stage:
            stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
            stage.create_job(runtime="gang")
            await stage.until_jobset()
            stage.report(ready=1)
            await stage.settle(1)
            ENDINGS[ending](stage)
            await stage.settle(20)
            end = stage.conditions()
            assert {"Complete", "Failed"} & set(end), (seed, ending)
            made = len(stage.written(JOBSETS))
            for _ in range(STEPS):
                chance.choice(ACTS)(stage, chance)
                await stage.settle(chance.choice([0.0, 1.0, 15.0]))
            await stage.settle()
            after = {key: value for key, value in stage.conditions().items() if key != "Suspended"}
            assert after == end, (seed, ending)
            assert not [each for each in stage.written(JOBSETS)[made:] if each.verb == "apply"]
            assert stage.api.all(VOLCANO) == []
