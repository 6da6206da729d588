"""How many processes a node runs, from what it really gets, whoever makes the devices."""

from __future__ import annotations

import pytest

GPU = "nvidia.com/gpu"
OURS = {
    # runtime's resources, runtime's number, the job's trainer: the number
    "the job's number": ({"limits": {GPU: 4}}, None, {"numProcPerNode": 3}, "3"),
    "GPUs are counted by torchrun": ({"limits": {GPU: 4}}, None, {}, "auto"),
    "GPUs of the runtime behind CPUs of the job": (
        {"limits": {GPU: 4}},
        None,
        {"resourcesPerNode": {"requests": {"cpu": 8}}},
        "auto",
    ),
    "AMD": ({"limits": {"amd.com/gpu": 2}}, None, {}, "auto"),
    "MIG slices": ({"limits": {"nvidia.com/mig-1g.5gb": 3}}, None, {}, "3"),
    "TPU": ({"requests": {"google.com/tpu": 4}}, None, {}, "4"),
    "Gaudi": ({"limits": {"habana.ai/gaudi": 8}}, None, {}, "8"),
    "Neuron": ({"limits": {"aws.amazon.com/neuron": 2}}, None, {}, "2"),
    "Ascend": ({"limits": {"huawei.com/Ascend910": 8}}, None, {}, "8"),
    "an NPU": ({"limits": {"acme.io/npu": 2}}, None, {}, "2"),
    "two kinds": ({"limits": {GPU: 1, "acme.io/npu": 2}}, None, {}, "3"),
    "CPUs, rounded up": ({"requests": {"cpu": "2500m"}}, None, {}, "3"),
    "CPUs of the limits": ({"limits": {"cpu": "0.5"}}, None, {}, "1"),
    "nothing said": ({}, None, {}, "1"),
    "the runtime's number": ({"limits": {GPU: 4}}, 5, {}, "5"),
    "the runtime's number, as text": ({}, "6", {}, "6"),
    "the runtime says auto": ({"limits": {GPU: 4}}, "auto", {}, "4"),
    "the runtime says gpu": ({"limits": {GPU: 2}}, "gpu", {}, "2"),
    "the runtime says gpu and has none": ({"requests": {"cpu": 2}}, "gpu", {}, "2"),
    "the runtime says cpu": ({"limits": {GPU: 2, "cpu": 7}}, "cpu", {}, "7"),
    "GPUs of the job before the runtime's number": (
        {"limits": {GPU: 8}},
        5,
        {"resourcesPerNode": {"requests": {GPU: 2}}},
        "2",
    ),
    "CPUs of the job behind the runtime's number": (
        {"limits": {GPU: 5}},
        5,
        {"resourcesPerNode": {"requests": {"cpu": 2}}},
        "5",
    ),
}


def made(world, resources, number, trainer, compat=None):
    policy = {"torch": {} if number is None else {"numProcPerNode": number}}
    node = world.replicated_job(container={"resources": resources})
    return world.plan_of(world.runtime_of(policy, node), world.train_job(trainer=trainer), compat=compat)


@pytest.mark.parametrize("sentence", OURS)
def test_processes(sentence, world):
    *given, want = OURS[sentence]
    plan = made(world, *given)
    assert world.env_of(plan)["PET_NPROC_PER_NODE"] == want
    (told,) = [each for each in plan.decisions if each.field == "numProcPerNode"]
    assert told.value == want


UPSTREAM = {
    "GPUs": ({"limits": {GPU: 4}}, {}, "auto"),
    "GPUs of the runtime behind CPUs of the job": (
        {"limits": {GPU: 4}},
        {"resourcesPerNode": {"requests": {"cpu": 8}}},
        "8",
    ),
    "MIG slices": ({"limits": {"nvidia.com/mig-1g.5gb": 3}}, {}, "1"),
    "the job's number": ({"limits": {GPU: 4}}, {"numProcPerNode": 3}, "3"),
}


@pytest.mark.parametrize("sentence", UPSTREAM)
def test_upstreams_processes(sentence, world):
    resources, trainer, want = UPSTREAM[sentence]
    assert world.env_of(made(world, resources, None, trainer, "upstream"))["PET_NPROC_PER_NODE"] == want


def test_more_processes_than_devices_are_told_of(world):
    (warning,) = made(world, {"limits": {GPU: 2}}, 5, {}).warnings
    assert warning.startswith("spec.mlPolicy.torch.numProcPerNode: 5 processes share 2 devices")


def test_upstream_without_a_container_of_its_name(world):
    node = world.replicated_job("a", sidecars=[], container={"name": "other"})
    plan = world.plan_of(
        world.runtime_of({"torch": {}}, node), world.train_job(trainer={}), compat="upstream"
    )
    assert "env" not in world.container_of(plan, "other", "a")
