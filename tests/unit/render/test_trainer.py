"""What spec.trainer says reaches the containers that do the work."""

from __future__ import annotations

import pytest

OVERRIDES = {
    "nothing": ({}, {}),
    "an image": ({"image": "mine"}, {"image": "mine"}),
    "a command keeps the runtime's arguments": ({"command": ["x"]}, {"command": ["x"]}),
    "arguments keep the runtime's command": ({"args": ["y"]}, {"args": ["y"]}),
    "no arguments clear the runtime's": ({"args": []}, {"args": []}),
    "env": ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": "1"}]}),
}


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", OVERRIDES)
def test_overrides(sentence, compat, world):
    trainer, want = OVERRIDES[sentence]
    base = {"command": ["run"], "args": ["--a"], "image": "i"}
    side = {"name": "side", "image": "s", "command": ["s"]}
    runtime = world.runtime_of(None, world.replicated_job(container=base, sidecars=[side]))
    plan = world.plan_of(runtime, world.train_job(trainer=trainer), compat=compat)
    assert world.container_of(plan) == {"name": "node", **base, **want}
    assert world.container_of(plan, "side") == side


SPLIT = {
    # the command: what runs, the warning
    "a command line in one string": (
        ["torchrun train.py"],
        ["torchrun", "train.py"],
        "CommandSplit: spec.trainer.command",
    ),
    "a line for a shell": (
        ["python a.py > log"],
        ["python a.py > log"],
        "CommandSplit: spec.trainer.command",
    ),
    "tabs between the words": (
        ["torchrun\ttrain.py"],
        ["torchrun", "train.py"],
        "CommandSplit: spec.trainer.command",
    ),
    "a blank before the word": ([" torchrun"], [" torchrun"], None),
    "one word": (["torchrun"], ["torchrun"], None),
    "one path": (["/bin/train"], ["/bin/train"], None),
    "words": (["torchrun", "train.py"], ["torchrun", "train.py"], None),
}


@pytest.mark.parametrize("sentence", SPLIT)
def test_one_string(sentence, world):
    command, want, warning = SPLIT[sentence]
    job = world.train_job(trainer={"command": command, "args": ["--epochs=100"]})
    plan = world.plan_of(world.runtime_of({"torch": {}}), job)
    assert world.container_of(plan)["command"] == want
    assert world.container_of(plan)["args"] == ["--epochs=100"]
    assert [each.startswith(warning or "") for each in plan.warnings] == ([True] if warning else [])
    upstream = world.plan_of(world.runtime_of({"torch": {}}), job, compat="upstream")
    assert world.container_of(upstream)["command"] == command


MPI = {
    # policy, compat: image and env of the nodes beside the launcher
    "apart": ({}, None, "mine", "1"),
    "apart, as upstream": ({}, "upstream", "i", None),
    "the launcher is a node": ({"runLauncherAsNode": True}, None, "mine", "1"),
    "the launcher is a node, as upstream": ({"runLauncherAsNode": True}, "upstream", "i", "1"),
}


@pytest.mark.parametrize("sentence", MPI)
def test_nodes_beside_a_launcher(sentence, world):
    policy, compat, image, value = MPI[sentence]
    jobs = [
        world.replicated_job("node", step="", container={"image": "i", "command": ["sshd"]}),
        world.replicated_job("launcher", container={"image": "i"}),
        world.replicated_job("side", step="", container={"image": "s"}),
    ]
    trainer = {"image": "mine", "command": ["mpirun"], "env": [{"name": "A", "value": "1"}], "numNodes": 3}
    plan = world.plan_of(
        world.runtime_of({"mpi": policy}, *jobs), world.train_job(trainer=trainer), compat=compat
    )
    node = world.container_of(plan)
    assert (node["image"], node["command"], world.env_of(plan).get("A")) == (image, ["sshd"], value)
    launcher = world.container_of(plan, job="launcher")
    assert (launcher["image"], launcher["command"]) == ("mine", ["mpirun"])
    assert world.container_of(plan, job="side")["image"] == "s"


def test_nodes_without_a_word_from_the_job(world):
    jobs = [world.replicated_job("node", step=""), world.replicated_job("launcher")]
    plan = world.plan_of(world.runtime_of({"mpi": {}}, *jobs), world.train_job(trainer={"numNodes": 2}))
    assert "env" not in world.container_of(plan)


def test_nodes_without_a_main_container(world):
    jobs = [world.replicated_job("node", step="", container={"name": "x"}), world.replicated_job("launcher")]
    trainer = {"image": "mine", "env": [{"name": "A", "value": "1"}]}
    runtime = world.runtime_of({"mpi": {"runLauncherAsNode": True}}, *jobs)
    plan = world.plan_of(runtime, world.train_job(trainer=trainer), compat="upstream")
    assert world.container_of(plan, "x")["image"] == "lab/img:1"
