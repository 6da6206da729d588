"""XGBoost counts a worker for each accelerator of every node."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.admission import admit

POLICY = {"xgboost": {}, "numNodes": 3}
TRACKER = {"DMLC_TRACKER_URI": "bert-node-0-0.bert", "DMLC_TRACKER_PORT": "29500", "DMLC_TASK_ID": "index"}
WORKERS = {
    # the runtime's, the job's: ours, upstream's
    "no accelerator": ({}, {}, "3", "3"),
    "two GPUs": ({"limits": {"nvidia.com/gpu": 2}}, {}, "6", "6"),
    "GPUs behind CPUs of the job": (
        {"limits": {"nvidia.com/gpu": 2}},
        {"resourcesPerNode": {"requests": {"cpu": 4}}},
        "6",
        "3",
    ),
    "an NPU": ({"limits": {"acme.io/npu": 4}}, {}, "12", "3"),
}


@pytest.mark.parametrize("sentence", WORKERS)
def test_workers(sentence, world):
    resources, trainer, ours, upstreams = WORKERS[sentence]
    runtime = world.runtime_of(POLICY, world.replicated_job(container={"resources": resources}))
    for compat, want in ((None, ours), ("upstream", upstreams)):
        plan = world.plan_of(runtime, world.train_job(trainer=trainer), compat=compat)
        assert world.env_of(plan) == {**TRACKER, "DMLC_NUM_WORKER": want}
        assert world.container_of(plan)["ports"] == [{"containerPort": 29500}]


def test_without_spec_trainer(world):
    plan = world.plan_of(world.runtime_of(POLICY), world.train_job())
    assert world.env_of(plan) == {**TRACKER, "DMLC_NUM_WORKER": "3"}
    assert world.env_of(world.plan_of(world.runtime_of(POLICY), world.train_job(), compat="upstream")) == {}


RESERVED = {
    "a variable of the tracker": (
        {"env": [{"name": "A"}, {"name": "DMLC_TASK_ID"}]},
        ["spec.trainer.env[1]"],
    ),
    "others": ({"env": [{"name": "DMLC_OTHER"}]}, []),
    "none": ({}, []),
}


@pytest.mark.parametrize("sentence", RESERVED)
def test_reserved(sentence, world):
    trainer, want = RESERVED[sentence]
    errors = admit(read(world.train_job(trainer=trainer)), read(world.runtime_of(POLICY))).errors
    assert [each.field for each in errors] == want
    assert all(each.type == "FieldValueForbidden" for each in errors)


def test_no_trainer_has_nothing_reserved(world):
    assert admit(read(world.train_job()), read(world.runtime_of(POLICY))).errors == ()
