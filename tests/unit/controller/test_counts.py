"""What JobSet counts, and who does not run yet."""

import pytest

from kfp_trainer.runtime_operator.controller.counts import counts, not_running

IN_GANG = {"metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "bert"}}}
NODE = {"name": "node", "replicas": 2, "template": {"spec": {"template": IN_GANG}}}
SIDE = {"name": "side", "template": {"spec": {"template": {}}}}
RUNS = {"status": {"phase": "Running"}}


def jobset(jobs, *told):
    return {"spec": {"replicatedJobs": jobs}, "status": {"replicatedJobsStatus": list(told)}}


# the JobSet, its gang: who does not run
CASES = {
    "no jobs": ({}, None, []),
    "nothing counted": (jobset([NODE, SIDE]), None, ["node", "side"]),
    "one of two": (jobset([NODE], {"name": "node", "ready": 1}), None, ["node"]),
    "one runs and one is done": (jobset([NODE], {"name": "node", "ready": 1, "succeeded": 1}), None, []),
    "no replicas, nobody to wait for": (jobset([{**SIDE, "replicas": 0}], {"name": "side"}), None, []),
    "a gang that runs": (jobset([NODE, SIDE]), RUNS, ["side"]),
    "a gang of which nothing is known": (jobset([NODE]), {}, ["node"]),
}


@pytest.mark.parametrize("sentence", CASES)
def test_not_running(sentence):
    seen, gang, want = CASES[sentence]
    assert [each["name"] for each in not_running(seen, gang)] == want


def test_what_is_not_counted_is_zero():
    (got,) = counts(jobset([NODE], {"name": "node", "ready": 2, "other": 1}))
    assert got == {"name": "node", "ready": 2, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
