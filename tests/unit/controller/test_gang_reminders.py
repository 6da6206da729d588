"""When the coscheduling scheduler is reminded of gangs that wait."""

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.controller.gang_reminders import REMINDED, longest_waiting
from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES
from kfp_trainer.runtime_operator.kube.errors import api_error
from tests.controller_stage import Stage, runtime
from tests.controller_stage.stage import COSCHEDULING, NAMESPACE, VOLCANO
from tests.fake_api import Fault
from tests.virtual_time import in_virtual_time

NOW = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)


def group(name, *, made="12:00:00", phase=None, **metadata):
    metadata = {"name": name, "creationTimestamp": f"2026-01-01T{made}Z", **metadata}
    return {"metadata": metadata, **({"status": {"phase": phase}} if phase else {})}


GROUPS = {
    "none, none is reminded of": ([], None),
    "one that waits": ([group("a", phase="Scheduling")], "a"),
    "one of which the scheduler's controller has said nothing": ([group("a")], "a"),
    "part of it was placed": ([group("a", phase="Unknown")], "a"),
    "it runs": ([group("a", phase="Running")], None),
    "it is over": ([group("a", phase="Finished"), group("b", phase="Failed")], None),
    "it is as young as its pods": ([group("a", made="12:00:21", phase="Pending")], None),
    "it goes": ([group("a", phase="Pending", deletionTimestamp="2026-01-01T12:00:20Z")], None),
    "of several the oldest that waits": (
        [group("late"), group("first", made="11:00:00"), group("older", made="10:00:00", phase="Running")],
        "first",
    ),
}


@pytest.mark.parametrize("sentence", GROUPS)
def test_who_is_reminded_of(sentence):
    groups, expected = GROUPS[sentence]
    found = longest_waiting(groups, NOW)
    assert (found and found["metadata"]["name"]) == expected


def reminders(stage, resource):
    return [each.key[1] for each in stage.written(resource) if each.verb == "patch"]


async def story(resource, policy):
    """Two jobs wait for a minute, run, and one goes; the reminders of each part."""
    async with Stage(resource) as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=policy))
        for name in ("one", "two"):
            stage.create_job(name, runtime="gang")
        told = []
        for phase in ("Running", "Finished"):
            await stage.settle(55)
            told.append(reminders(stage, resource))
            for name in ("one", "two"):
                stage.api.change(resource, NAMESPACE, name, {"status": {"phase": phase}})
        annotations = [each["metadata"].get("annotations") or {} for each in stage.api.all(resource)]
        return told, [REMINDED in each for each in annotations]


@in_virtual_time
async def test_while_gangs_wait_one_is_changed_now_and_then():
    (waiting, running), marked = await story(COSCHEDULING, {"coscheduling": {}})
    assert waiting == ["one"] * 3
    assert running == waiting
    assert marked == [True, False]


@in_virtual_time
async def test_volcano_looks_at_its_gangs_by_itself():
    told, marked = await story(VOLCANO, {"volcano": {}})
    assert told == [[], []]
    assert marked == [False, False]


@in_virtual_time
async def test_a_reminder_that_fails_is_not_the_last():
    async with Stage(COSCHEDULING) as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang={"coscheduling": {}}))
        stage.create_job("one", runtime="gang")
        stage.api.faults.add(
            Fault("refuse", "patch", COSCHEDULING, error=api_error(503, "Unavailable", "no"))
        )
        await stage.settle(50)
        assert reminders(stage, COSCHEDULING) == ["one"] * 2
