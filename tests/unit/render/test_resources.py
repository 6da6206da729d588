"""What a node gets is what is counted, and it is merged key by key."""

from __future__ import annotations

import pytest

GPU, CPU, MEMORY = "nvidia.com/gpu", "cpu", "memory"
TORCH = {"torch": {}}
MERGED = {
    # the runtime's, the job's, what the container gets
    "a limit on top": (
        {"limits": {GPU: 4}},
        {"limits": {MEMORY: "8Gi"}},
        {"limits": {GPU: 4, MEMORY: "8Gi"}},
    ),
    "a key is replaced": ({"limits": {GPU: 4}}, {"limits": {GPU: 1}}, {"limits": {GPU: 1}}),
    "requests beside limits": (
        {"limits": {GPU: 4}},
        {"requests": {CPU: 2}},
        {"limits": {GPU: 4}, "requests": {CPU: 2}},
    ),
    "a GPU in requests only": (
        {},
        {"requests": {GPU: 2, CPU: 1}},
        {"requests": {GPU: 2, CPU: 1}, "limits": {GPU: 2}},
    ),
    "a GPU in requests only, which the runtime limits": (
        {"limits": {GPU: 4}},
        {"requests": {GPU: 2}},
        {"requests": {GPU: 2}, "limits": {GPU: 2}},
    ),
    "a GPU in limits only, which the runtime requests": (
        {"limits": {GPU: 4}, "requests": {GPU: 4, CPU: 1}},
        {"limits": {GPU: 2, CPU: 3}},
        {"limits": {GPU: 2, CPU: 3}, "requests": {GPU: 2, CPU: 1}},
    ),
    "claims stay": (
        {"claims": [{"name": "a"}], "limits": {CPU: 1}},
        {"limits": {CPU: 2}},
        {"claims": [{"name": "a"}], "limits": {CPU: 2}},
    ),
    "claims join": (
        {"claims": [{"name": "a"}]},
        {"claims": [{"name": "a", "request": "r"}, {"name": "b"}]},
        {"claims": [{"name": "a", "request": "r"}, {"name": "b"}]},
    ),
    "nothing on nothing": ({}, {}, {}),
}


@pytest.mark.parametrize("sentence", MERGED)
@pytest.mark.parametrize("policy", [TORCH, None], ids=["with mlPolicy", "without mlPolicy"])
def test_merged(sentence, policy, world):
    base, wanted, want = MERGED[sentence]
    node = world.replicated_job(container={"resources": base})
    plan = world.plan_of(
        world.runtime_of(policy, node), world.train_job(trainer={"resourcesPerNode": wanted})
    )
    assert world.container_of(plan)["resources"] == want
    told = [each for each in plan.warnings if "LimitsFromRequests" in each]
    assert len(told) == sentence.startswith("a GPU in requests only")


def test_upstream_forgets_claims_and_needs_a_policy(world):
    node = world.replicated_job(container={"resources": {"claims": [{"name": "a"}], "limits": {CPU: 1}}})
    job = world.train_job(trainer={"resourcesPerNode": {"requests": {GPU: 2}}})
    made = world.plan_of(world.runtime_of(TORCH, node), job, compat="upstream")
    assert world.container_of(made)["resources"] == {"limits": {CPU: 1}, "requests": {GPU: 2}}
    made = world.plan_of(world.runtime_of(None, node), job, compat="upstream")
    assert world.container_of(made)["resources"] == {"claims": [{"name": "a"}], "limits": {CPU: 1}}


def mpi_resources(world, plan):
    return {
        each["name"]: each["template"]["spec"]["template"]["spec"]["containers"][0].get("resources")
        for each in world.jobset_of(plan)["spec"]["replicatedJobs"]
    }


ONE = {"limits": {CPU: 3}}
MPI = {
    # policy, compat: who gets the job's resources
    "apart: the nodes work": ({"mpi": {}}, None, {"node": ONE, "launcher": None}),
    "apart, as upstream": ({"mpi": {}}, "upstream", {"node": None, "launcher": ONE}),
    "the launcher is a node": (
        {"mpi": {"runLauncherAsNode": True}, "numNodes": 2},
        None,
        {"node": ONE, "launcher": ONE},
    ),
    "the launcher is a node, as upstream": (
        {"mpi": {"runLauncherAsNode": True}, "numNodes": 2},
        "upstream",
        {"node": ONE, "launcher": ONE},
    ),
}


@pytest.mark.parametrize("sentence", MPI)
def test_with_mpi(sentence, world):
    policy, compat, want = MPI[sentence]
    jobs = [world.replicated_job("node", step=""), world.replicated_job("launcher")]
    job = world.train_job(trainer={"resourcesPerNode": ONE})
    plan = world.plan_of(world.runtime_of(policy, *jobs), job, compat=compat)
    assert mpi_resources(world, plan) == want


def test_mpi_in_one_job(world):
    plan = world.plan_of(world.runtime_of({"mpi": {}}), world.train_job(trainer={"resourcesPerNode": ONE}))
    assert mpi_resources(world, plan) == {"node": ONE}


def test_a_job_without_a_main_container_gets_none(world):
    fetch = world.replicated_job("x", step="", pod={"containers": []})
    plan = world.plan_of(
        world.runtime_of(TORCH, fetch), world.train_job(trainer={"resourcesPerNode": ONE, "numNodes": 2})
    )
    assert world.pod_of(plan, "x") == {"containers": []}


KUEUE = {
    # policy, jobs: the warning
    "the pods that train": ({"torch": {}}, [("node", "trainer")], None),
    "no mlPolicy": (None, [("node", "trainer")], "applied to no job and not to node, because Kueue"),
    "a launcher apart": (
        {"mpi": {}},
        [("node", ""), ("launcher", "trainer")],
        "applied to launcher and not to node, because Kueue",
    ),
    "a launcher that is a node": (
        {"mpi": {"runLauncherAsNode": True}},
        [("node", ""), ("launcher", "trainer")],
        None,
    ),
}


@pytest.mark.parametrize("sentence", KUEUE)
def test_kueue_is_told_of(sentence, world):
    policy, jobs, want = KUEUE[sentence]
    runtime = world.runtime_of(policy, *(world.replicated_job(name, step=step) for name, step in jobs))
    job = world.train_job(trainer={"resourcesPerNode": ONE}, labels={"kueue.x-k8s.io/queue-name": "q"})
    warnings = world.plan_of(runtime, job).warnings
    assert [each.partition(": ")[2][: len(want or "")] for each in warnings] == ([want] if want else [])
