"""torchrun is told how many there are and where they meet, by one set of variables."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError

MEETING = {"PET_NODE_RANK": "index", "PET_MASTER_ADDR": "bert-node-0-0.bert", "PET_MASTER_PORT": "29500"}
ONE = {"PET_NNODES": "1", "PET_NPROC_PER_NODE": "1", **MEETING}
PORTS = [{"containerPort": 29500}]
TORCH = {"torch": {}}


def test_env_comes_after_the_jobs_own_and_wins(world):
    node = world.replicated_job(
        container={"env": [{"name": "PET_NNODES", "value": "9"}, {"name": "A", "value": "1"}]}
    )
    job = world.train_job(trainer={"numNodes": 3, "env": [{"name": "B", "value": "$(A)"}]})
    plan = world.plan_of(world.runtime_of(TORCH, node), job)
    assert list(world.env_of(plan).items()) == [
        ("PET_NNODES", "3"),
        ("A", "1"),
        ("B", "$(A)"),
        ("PET_NPROC_PER_NODE", "1"),
        *MEETING.items(),
    ]
    (warning,) = plan.warnings
    assert warning.startswith("EnvReplaced: env.PET_NNODES: '9' is replaced, because torchrun must know")


@pytest.mark.parametrize("trainer", [{}, {"trainer": {}}], ids=["without spec.trainer", "with it"])
def test_a_job_that_names_nothing_but_its_runtime(trainer, world):
    plan = world.plan_of(world.runtime_of(TORCH), world.train_job(**trainer))
    assert world.env_of(plan) == ONE
    assert world.container_of(plan)["ports"] == PORTS
    upstream = world.plan_of(world.runtime_of(TORCH), world.train_job(**trainer), compat="upstream")
    assert world.env_of(upstream) == (ONE if trainer else {})


ADDRESSES = {
    # name of the job, subdomain: ours, upstream's
    "node": ("node", None, "bert-node-0-0.bert", "bert-node-0-0.bert"),
    "another name": ("workers", None, "bert-workers-0-0.bert", "bert-node-0-0.bert"),
    "a subdomain": ("node", "mesh", "bert-node-0-0.mesh", "bert-node-0-0.bert"),
}


@pytest.mark.parametrize("sentence", ADDRESSES)
def test_address(sentence, world):
    name, subdomain, ours, upstreams = ADDRESSES[sentence]
    spec = {"network": {"subdomain": subdomain}} if subdomain else {}
    runtime = world.runtime_of(TORCH, world.replicated_job(name), spec=spec)
    for compat, want in ((None, ours), ("upstream", upstreams)):
        plan = world.plan_of(runtime, world.train_job(trainer={}), compat=compat)
        assert world.env_of(plan, job=name)["PET_MASTER_ADDR"] == want


MASTER = {
    # env of the runtime, policy, version: MASTER_ADDR, MASTER_PORT, PET_MASTER_PORT
    "today's runtime": ([], {}, "v1alpha1", (None, None, "29500")),
    "an older version": ([], {}, "v2alpha1", ("bert-node-0-0.bert", "29500", "29500")),
    "an older spelling": ([], {"numProcPerNode": 2}, "v1alpha1", ("bert-node-0-0.bert", "29500", "29500")),
    "the address of another job": (
        [("MASTER_ADDR", "pytorch-node-0-0.pytorch"), ("MASTER_PORT", "29400")],
        {},
        "v1alpha1",
        ("bert-node-0-0.bert", "29400", "29400"),
    ),
    "an address of one's own": (
        [("MASTER_ADDR", "meet.lab")],
        {},
        "v1alpha1",
        ("meet.lab", "29500", "29500"),
    ),
    "a port that is none": (
        [("MASTER_PORT", "$(P)")],
        {},
        "v1alpha1",
        ("bert-node-0-0.bert", "$(P)", "29500"),
    ),
    "a port out of range": (
        [("MASTER_PORT", "70000")],
        {},
        "v1alpha1",
        ("bert-node-0-0.bert", "70000", "29500"),
    ),
}


@pytest.mark.parametrize("sentence", MASTER)
def test_master(sentence, world):
    env, policy, version, want = MASTER[sentence]
    node = world.replicated_job(container={"env": [{"name": name, "value": value} for name, value in env]})
    plan = world.plan_of(world.runtime_of({"torch": policy}, node, version=version), world.train_job())
    got = world.env_of(plan)
    assert (got.get("MASTER_ADDR"), got.get("MASTER_PORT"), got["PET_MASTER_PORT"]) == want
    assert world.container_of(plan)["ports"] == [{"containerPort": int(want[2])}]


def test_other_ports_stay(world):
    node = world.replicated_job(container={"ports": [{"containerPort": 8080}]})
    runtime = world.runtime_of(TORCH, node)
    plan = world.plan_of(runtime, world.train_job())
    assert world.container_of(plan)["ports"] == [{"containerPort": 8080}, *PORTS]
    upstream = world.plan_of(runtime, world.train_job(trainer={}), compat="upstream")
    assert world.container_of(upstream)["ports"] == PORTS


UPSTREAM_PORTS = {
    "a named port stays": (
        [{"name": "web", "containerPort": 80}],
        [{"name": "web", "containerPort": 80}, *PORTS],
    ),
    "its own port is replaced": ([{"name": "torch", "containerPort": 29500}], PORTS),
}


@pytest.mark.parametrize("sentence", UPSTREAM_PORTS)
def test_upstreams_ports(sentence, world):
    given, want = UPSTREAM_PORTS[sentence]
    runtime = world.runtime_of(TORCH, world.replicated_job(container={"ports": given}))
    plan = world.plan_of(runtime, world.train_job(trainer={}), compat="upstream")
    assert world.container_of(plan)["ports"] == want


ELASTIC = {
    # policy, the job's nodes: pods, PET_NNODES
    "as many as may be": ({"minNodes": 2, "maxNodes": 4}, None, 4, "2:4"),
    "as many as the job says": ({"minNodes": 2, "maxNodes": 4}, 3, 3, "2:4"),
    "a maximum alone": ({"maxNodes": 4}, None, 4, "1:4"),
    "a minimum alone": ({"minNodes": 2}, None, 2, "2:2"),
    "neither": ({}, None, 1, "1:1"),
}


@pytest.mark.parametrize("sentence", ELASTIC)
def test_elastic(sentence, world):
    policy, nodes, pods, bounds = ELASTIC[sentence]
    runtime = world.runtime_of({"torch": {"elasticPolicy": policy}})
    plan = world.plan_of(runtime, world.train_job(**({"trainer": {"numNodes": nodes}} if nodes else {})))
    assert world.job_of(plan)["template"]["spec"]["completions"] == pods
    assert world.env_of(plan) == {
        "PET_NNODES": bounds,
        "PET_NPROC_PER_NODE": "1",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "bert-node-0-0.bert:29500",
        "PET_RDZV_ID": "uid-1",
    }
    assert world.container_of(plan)["ports"] == PORTS


def test_elastic_restarts(world):
    runtime = world.runtime_of({"torch": {"elasticPolicy": {"minNodes": 1, "maxNodes": 2, "maxRestarts": 0}}})
    job = world.train_job()
    del job["metadata"]["uid"]
    env = world.env_of(world.plan_of(runtime, job))
    assert (env["PET_MAX_RESTARTS"], env["PET_RDZV_ID"]) == ("0", "bert")


def test_elastic_bounds_hold(world):
    runtime = world.runtime_of({"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 4}}})
    for nodes in (1, 5):
        with pytest.raises(SpecError, match=f"spec.trainer.numNodes: must be from 2 to 4.*got {nodes}"):
            world.plan_of(runtime, world.train_job(trainer={"numNodes": nodes}))


def test_kueue_knows_no_elastic_jobs(world):
    runtime = world.runtime_of({"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 4}}})
    plan = world.plan_of(runtime, world.train_job(labels={"kueue.x-k8s.io/queue-name": "q"}))
    assert world.env_of(plan) == ONE
    (warning,) = plan.warnings
    assert warning.startswith("spec.mlPolicy.torch.elasticPolicy: not applied, because Kueue counts")


def test_upstream_knows_no_elastic_jobs(world):
    runtime = world.runtime_of({"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 4}}})
    plan = world.plan_of(runtime, world.train_job(trainer={}), compat="upstream")
    assert world.env_of(plan) == ONE


def injecting(world, *names, job="node"):
    side = {"name": "side", "image": "s"}
    node = world.replicated_job(sidecars=[side], pod={"initContainers": [{"name": "warm", "image": "w"}]})
    targets = [{"jobName": job, "containerNames": list(names)}]
    return world.runtime_of({"torch": {"envInjection": {"targets": targets}}}, node)


@pytest.mark.parametrize("name", ["side", "warm"])
@pytest.mark.parametrize("compat", [None, "upstream"])
def test_injected(name, compat, world):
    plan = world.plan_of(injecting(world, name), world.train_job(trainer={"numNodes": 2}), compat=compat)
    assert world.env_of(plan, name) == {**ONE, "PET_NNODES": "2"}


@pytest.mark.parametrize("job", ["node", "other"])
def test_injection_needs_a_container(job, world):
    with pytest.raises(SpecError, match=f'envInjection target podSet "{job}" container "ghost" not found'):
        world.plan_of(injecting(world, "ghost", job=job), world.train_job())


def test_injection_without_a_trainer(world):
    """Upstream injects what it knows even where it knows no trainer."""
    runtime = injecting(world, "side")
    del runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["metadata"]
    plan = world.plan_of(runtime, world.train_job(trainer={"numNodes": 3}), compat="upstream")
    assert world.env_of(plan, "side") == ONE
    assert world.env_of(plan) == {}
    jobs = [world.replicated_job("a", step=""), world.replicated_job("b", step="")]
    runtime["spec"]["template"]["spec"]["replicatedJobs"] = jobs
    assert world.env_of(world.plan_of(runtime, world.train_job()), job="a") == {}


def test_injection_without_targets(world):
    plan = world.plan_of(world.runtime_of({"torch": {"envInjection": {}}}), world.train_job())
    assert world.env_of(plan) == ONE


def test_no_trainer_and_no_main_container(world):
    upstream = {"compat": "upstream"}
    plain = world.replicated_job(step="")
    assert world.env_of(world.plan_of(world.runtime_of(TORCH, plain), world.train_job(), **upstream)) == {}
    other = world.replicated_job(container={"name": "other"})
    plan = world.plan_of(world.runtime_of(TORCH, other), world.train_job(trainer={"env": []}), **upstream)
    assert world.env_of(plan, "other") == {}
