"""The JobSet is the runtime's template with counts, and nothing in it is lost."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render.framework import Terminal
from kfp_trainer.runtime_operator.render.plugins.jobset import JobSet

TORCH = {"torch": {}, "numNodes": 2}
COUNTS = {
    # a job on the side, compat: its parallelism and completions
    "nothing said": ({}, None, (1, 1)),
    "parallelism alone": ({"parallelism": 3}, None, (3, 3)),
    "more to do than hands": ({"parallelism": 2, "completions": 5}, None, (2, 5)),
    "more to do than hands, as upstream": ({"parallelism": 2, "completions": 5}, "upstream", (2, 2)),
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_counts_of_a_job_on_the_side(sentence, world):
    spec, compat, want = COUNTS[sentence]
    side = world.replicated_job("side", step="", job=spec, replicas=4)
    plan = world.plan_of(
        world.runtime_of(TORCH, side, world.replicated_job()), world.train_job(), compat=compat
    )
    made = world.job_of(plan, "side")
    assert (made["template"]["spec"]["parallelism"], made["template"]["spec"]["completions"]) == want
    assert made["replicas"] == 4


def test_known_steps_have_one_replica_of_all_their_pods(world):
    node = world.replicated_job(replicas=7, job={"parallelism": 9, "completions": 9, "backoffLimit": 3})
    plan = world.plan_of(world.runtime_of(TORCH, node), world.train_job())
    made = world.job_of(plan)
    assert made["replicas"] == 1
    assert [each.count for each in plan.pod_sets] == [2]
    spec = made["template"]["spec"]
    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (2, 2, 3)


def test_everything_else_of_the_template_arrives(world):
    spec = {
        "ttlSecondsAfterFinished": 9,
        "network": {"publishNotReadyAddresses": True},
        "fieldOfTomorrow": [1],
    }
    plan = world.plan_of(world.runtime_of(TORCH, spec=dict(spec)), world.train_job())
    made = world.jobset_of(plan)["spec"]
    assert {key: made[key] for key in spec} == spec


def test_nobody_waits_for_a_job_that_is_left_out(world):
    jobs = [
        world.replicated_job("fetch", step="dataset-initializer"),
        world.replicated_job("node", step=""),
        world.replicated_job(
            "launcher",
            dependsOn=[{"name": "fetch", "status": "Complete"}, {"name": "node", "status": "Ready"}],
        ),
    ]
    plan = world.plan_of(world.runtime_of({"mpi": {"runLauncherAsNode": True}}, *jobs), world.train_job())
    assert [each.name for each in plan.pod_sets] == ["fetch", "launcher"]
    assert world.job_of(plan, "launcher")["dependsOn"] == [{"name": "fetch", "status": "Complete"}]


ENDS = {
    "runs": ([], None),
    "completed": (
        [
            {
                "type": "Completed",
                "status": "True",
                "reason": "AllJobsCompleted",
                "message": "m",
                "lastTransitionTime": "t",
            }
        ],
        Terminal("Complete", "AllJobsCompleted", "m", "t"),
    ),
    "failed": ([{"type": "Failed", "status": "True"}], Terminal("Failed", "", "", None)),
    "failed after it was complete": (
        [{"type": "Completed", "status": "True"}, {"type": "Failed", "status": "True", "reason": "r"}],
        Terminal("Failed", "r", "", None),
    ),
    "suspended": ([{"type": "Suspended", "status": "True"}, {"type": "Failed", "status": "False"}], None),
}


@pytest.mark.parametrize("sentence", ENDS)
def test_terminal_condition(sentence):
    conditions, want = ENDS[sentence]
    jobset = {"kind": "JobSet", "status": {"conditions": conditions}}
    assert JobSet().terminal_condition(None, jobset) == want


def test_other_objects_end_nothing():
    assert JobSet().terminal_condition(None, {"kind": "Job"}) is None
    assert JobSet().terminal_condition(None, {"kind": "JobSet"}) is None
