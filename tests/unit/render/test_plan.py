"""A plan says what will be, and tells the rest when asked."""

from __future__ import annotations

import copy

POLICY = {"torch": {}, "numNodes": 2}


def test_pod_sets_tell_steps_waves_and_requests(world):
    node = world.replicated_job(
        container={"resources": {"limits": {"nvidia.com/gpu": 2}, "requests": {"cpu": "500m"}}},
        dependsOn=[{"name": "dataset-initializer", "status": "Complete"}],
    )
    data = world.replicated_job("dataset-initializer", step="dataset-initializer")
    side = world.replicated_job("side", step="", replicas=3, job={"parallelism": 2})
    plan = world.plan_of(world.runtime_of(POLICY, data, node, side), world.train_job())
    told = [(each.name, each.step, each.count, each.wave, dict(each.requests)) for each in plan.pod_sets]
    assert told == [
        ("dataset-initializer", "dataset-initializer", 1, 0, {}),
        ("node", "trainer", 2, 1, {"nvidia.com/gpu": "2", "cpu": "500m"}),
        ("side", "", 6, 0, {}),
    ]


def test_endpoints_are_the_names_of_all_pods(world):
    side = world.replicated_job("side", step="", replicas=2)
    plan = world.plan_of(world.runtime_of(POLICY, world.replicated_job(), side), world.train_job())
    assert plan.endpoints == {
        "node": ("bert-node-0-0.bert", "bert-node-0-1.bert"),
        "side": ("bert-side-0-0.bert", "bert-side-1-0.bert"),
    }


def test_every_decision_has_a_reason_in_words(world):
    plan = world.plan_of(world.runtime_of(POLICY), world.train_job(trainer={"numNodes": 3}))
    told = {each.field: (each.value, each.reason) for each in plan.decisions}
    assert told["numNodes"] == ("3", "spec.trainer.numNodes of the job")
    assert told["PET_MASTER_ADDR"] == ("bert-node-0-0.bert", "all meet at the first pod of node")
    assert all(each.reason and "%" not in each.reason for each in plan.decisions)


def test_equal_inputs_make_equal_plans(world):
    documents = world.runtime_of(POLICY), world.train_job(trainer={"numNodes": 3})
    before = copy.deepcopy(documents)
    one, other = world.plan_of(*documents), world.plan_of(*copy.deepcopy(documents))
    assert one == other
    assert documents == before
    assert one != world.plan_of(documents[0], world.train_job())
    assert one != "a plan"


def test_it_shows_its_objects(world):
    plan = world.plan_of(world.runtime_of(POLICY), world.train_job())
    assert repr(plan) == "Plan(ConfigMap/bert-runtime-snapshot, JobSet/bert)"
    assert plan.find("JobSet", "bert") is plan.objects[-1]
    assert plan.find("JobSet", "other") is None
    assert plan.find("Secret") is None
