"""JAX's coordinator is known to every process, and the job's own env may speak of it."""

from __future__ import annotations

import pytest

ENV = {
    "JAX_NUM_PROCESSES": "2",
    "JAX_PROCESS_ID": "index",
    "JAX_COORDINATOR_ADDRESS": "bert-node-0-0.bert:29500",
}
POLICY = {"jax": {}, "numNodes": 2}


@pytest.mark.parametrize("trainer", [{}, {"trainer": {}}], ids=["without spec.trainer", "with it"])
def test_env(trainer, world):
    plan = world.plan_of(world.runtime_of(POLICY), world.train_job(**trainer))
    assert world.env_of(plan) == ENV
    assert world.container_of(plan)["ports"] == [{"containerPort": 29500}]
    upstream = world.plan_of(world.runtime_of(POLICY), world.train_job(**trainer), compat="upstream")
    assert world.env_of(upstream) == (ENV if trainer else {})


def test_the_jobs_own_env_comes_later_and_wins(world):
    env = [{"name": "RANK", "value": "$(JAX_PROCESS_ID)"}, {"name": "JAX_NUM_PROCESSES", "value": "9"}]
    plan = world.plan_of(world.runtime_of(POLICY), world.train_job(trainer={"env": env, "numNodes": 3}))
    assert list(world.env_of(plan).items()) == [
        ("JAX_NUM_PROCESSES", "9"),
        ("JAX_PROCESS_ID", "index"),
        ("JAX_COORDINATOR_ADDRESS", ENV["JAX_COORDINATOR_ADDRESS"]),
        ("RANK", "$(JAX_PROCESS_ID)"),
    ]


def test_upstream_without_a_trainer(world):
    runtime = world.runtime_of(POLICY, world.replicated_job(step=""))
    assert world.env_of(world.plan_of(runtime, world.train_job(trainer={}), compat="upstream")) == {}
