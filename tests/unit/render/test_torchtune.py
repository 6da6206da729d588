"""`tune run` becomes a recipe with a configuration, for every row of the table."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.plugins.torchtune_recipes import adapter_of, model_of, recipe_of

LORA = ["model.lora_attn_modules=[q_proj]"]
DORA = [*LORA, "model.use_dora=True", "model.quantize_base=True"]
QLORA = [*LORA, "model.quantize_base=true"]
RECIPES = {
    # nodes, processes, devices, arguments: recipe and ending
    "one device": (1, "auto", 1, [], "full_finetune_single_device _full_single_device"),
    "one process": (1, 1, 4, [], "full_finetune_single_device _full_single_device"),
    "LoRA on one device": (1, "auto", 1, LORA, "lora_finetune_single_device _lora_single_device"),
    "DoRA on one device": (1, "auto", 1, DORA, "lora_finetune_single_device _lora_single_device"),
    "QLoRA on one device": (1, "auto", 1, QLORA, "lora_finetune_single_device _qlora_single_device"),
    "several devices": (1, "auto", 4, [], "full_finetune_distributed _full"),
    "LoRA on several": (1, "auto", 4, LORA, "lora_finetune_distributed _lora"),
    "QLoRA on several": (1, 4, 4, QLORA, "lora_finetune_distributed _qlora"),
    "no node, as upstream admits it": (0, "auto", 1, QLORA, "full_finetune_distributed _full"),
    "several nodes": (2, "auto", 4, LORA, "full_finetune_distributed _full_multinode"),
}


@pytest.mark.parametrize("sentence", RECIPES)
def test_recipe(sentence):
    nodes, per_node, devices, args, want = RECIPES[sentence]
    assert " ".join(recipe_of(nodes=nodes, per_node=per_node, devices=devices, args=args)) == want


ADAPTERS = {
    "none": ([], ""),
    "a base that is quantized": (["model.quantize_base=True"], "qlora"),
    "a base that is not": ([*LORA, "model.quantize_base=False"], "lora"),
    "something else that is true": (["compile=True"], ""),
}


@pytest.mark.parametrize("sentence", ADAPTERS)
def test_adapter(sentence):
    args, want = ADAPTERS[sentence]
    assert adapter_of(args) == want


MODELS = {
    "torchtune-llama3.2-1b": "llama3_2/1B",
    "torchtune-qwen2.5-1.5b": "qwen2_5/1.5B",
    "mine": "",
    "a-b-c-d": "",
}


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    assert model_of(name) == MODELS[name]


COMMAND = [
    "tune",
    "run",
    "--rdzv_endpoint=localhost:29500",
    "x",
    "--config",
    "y",
    "dataset=d",
    "dataset.source=p",
]
COMMAND += ["output_dir=/o", "log_level=DEBUG"]
COMMANDS = {
    # arguments, GPUs, compat: the end of the command
    "settings stay": ([], 2, None, ["dataset=d", "dataset.source=p", "output_dir=/o", "log_level=DEBUG"]),
    "a component that the job chooses anew": (
        ["dataset=mine"],
        2,
        None,
        ["output_dir=/o", "log_level=DEBUG"],
    ),
    "a setting within a component": (
        ["dataset.source=q"],
        2,
        None,
        ["dataset=d", "dataset.source=p", "output_dir=/o", "log_level=DEBUG"],
    ),
    "four settings stay upstream": ([], 2, "upstream", ["output_dir=/o"]),
}


def tuned(world, *, args=(), gpus=2, compat=None, command=COMMAND, **trainer):
    node = world.replicated_job(
        container={"command": command, "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    )
    runtime = world.runtime_of({"torch": {}, "numNodes": 1}, node)
    runtime["metadata"]["name"] = "torchtune-llama3.2-1b"
    job = world.train_job(
        runtime="torchtune-llama3.2-1b", trainer={"command": ["tune", "run"], "args": list(args), **trainer}
    )
    return runtime, job, compat


@pytest.mark.parametrize("sentence", COMMANDS)
def test_command(sentence, world):
    args, gpus, compat, end = COMMANDS[sentence]
    runtime, job, _ = tuned(world, args=args, gpus=gpus)
    plan = world.plan_of(runtime, job, compat=compat)
    head = [
        "tune",
        "run",
        "--rdzv_endpoint=bert-node-0-0.bert:29500",
        "full_finetune_distributed",
        "--config",
    ]
    assert world.container_of(plan)["command"] == [*head, "llama3_2/1B_full", *end]
    assert set(world.env_of(plan)) == {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"}


MEETING = {
    "one GPU meets nobody": ({"gpus": 1}, False),
    "two GPUs meet": ({"gpus": 2}, True),
    "two processes meet": ({"gpus": 1, "numProcPerNode": 2}, True),
    "one process meets nobody": ({"gpus": 2, "numProcPerNode": 1}, False),
    "two nodes meet": ({"gpus": 1, "numNodes": 2}, True),
}


@pytest.mark.parametrize("sentence", MEETING)
def test_meeting_point(sentence, world):
    given, want = MEETING[sentence]
    runtime, job, _ = tuned(world, command=[], **given)
    command = world.container_of(world.plan_of(runtime, job))["command"]
    assert any(word.startswith("--rdzv_endpoint=bert-node") for word in command) is want


OTHERS = {
    "another command": {"command": ["tune", "run", "mine"]},
    "no command": {"command": None},
}


@pytest.mark.parametrize("sentence", OTHERS)
def test_other_commands_stay(sentence, world):
    runtime, job, _ = tuned(world, command=COMMAND)
    job["spec"]["trainer"] |= OTHERS[sentence]
    want = OTHERS[sentence]["command"] or COMMAND
    assert world.container_of(world.plan_of(runtime, job))["command"] == want


def test_without_spec_trainer_the_runtimes_command_stays(world):
    runtime, job, _ = tuned(world)
    del job["spec"]["trainer"]
    plan = world.plan_of(runtime, job)
    assert world.container_of(plan)["command"] == COMMAND
    assert set(world.env_of(plan)) == {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"}


def test_upstream_without_a_main_container(world):
    runtime, job, _ = tuned(world)
    runtime["spec"]["template"]["spec"]["replicatedJobs"] = [world.replicated_job(container={"name": "x"})]
    assert "command" not in world.container_of(world.plan_of(runtime, job, compat="upstream"), "x")


def test_upstream_gives_one_command_to_all_trainers_with_the_settings_of_each(world):
    runtime, job, _ = tuned(world)
    first = {"name": "node", "image": "i", "command": ["x", "output_dir=/a"]}
    second = {"name": "node", "image": "i", "command": ["y", "output_dir=/b", "lr=1"]}
    jobs = [world.replicated_job("a", container=first), world.replicated_job("b", container=second)]
    runtime["spec"]["template"]["spec"]["replicatedJobs"] = jobs
    plan = world.plan_of(runtime, job, compat="upstream")
    commands = [
        each["template"]["spec"]["template"]["spec"]["containers"][0]["command"]
        for each in plan.find("JobSet")["spec"]["replicatedJobs"]
    ]
    assert commands[0] == commands[1]
    assert commands[0][-2:] == ["output_dir=/a", "output_dir=/b"]


RULES = {
    # runtime's name, trainer, GPUs: fields that are refused
    "fine": ("torchtune-llama3.2-1b", {}, 2, []),
    "a model nobody knows": ("torchtune-gemma2-9b", {}, 2, ["spec.runtimeRef.name"]),
    "two nodes of a small model": ("torchtune-llama3.2-1b", {"numNodes": 2}, 2, ["spec.trainer.numNodes"]),
    "two nodes of a large one": ("torchtune-llama3.3-70b", {"numNodes": 2}, 2, []),
    "LoRA on two nodes": (
        "torchtune-llama3.3-70b",
        {"numNodes": 2, "args": LORA},
        2,
        ["spec.trainer.numNodes"],
    ),
    "QLoRA of Qwen": ("torchtune-qwen2.5-1.5b", {"args": QLORA}, 1, ["spec.runtimeRef.name"]),
    "QLoRA on one GPU": ("torchtune-llama3.2-1b", {"args": QLORA}, 1, []),
    "QLoRA on two GPUs": (
        "torchtune-llama3.2-3b",
        {"args": QLORA},
        2,
        ["spec.trainer.numProcPerNode", "spec.trainer.resourcesPerNode"],
    ),
    "QLoRA of a large model on two": ("torchtune-llama3.3-70b", {"args": QLORA}, 2, []),
    "a setting of the runtime": (
        "torchtune-llama3.2-1b",
        {"args": ["epochs=1", "output_dir=/x"]},
        2,
        ["spec.trainer.args[1]"],
    ),
}


def refused(world, name, trainer, gpus, compat, nodes=1):
    runtime, job, _ = tuned(world, gpus=gpus)
    runtime["metadata"]["name"] = job["spec"]["runtimeRef"]["name"] = name
    runtime["spec"]["mlPolicy"]["numNodes"] = nodes
    job["spec"]["trainer"] = {"command": ["tune", "run"], **trainer}
    return [each.field for each in admit(read(job), read(runtime), compat=compat).errors]


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", RULES)
def test_rules(sentence, compat, world):
    name, trainer, gpus, want = RULES[sentence]
    assert refused(world, name, trainer, gpus, compat) == want


def test_the_runtimes_nodes_count_too(world):
    assert refused(world, "torchtune-llama3.2-1b", {}, 2, None, nodes=2) == ["spec.trainer.numNodes"]
    assert refused(world, "torchtune-llama3.2-1b", {}, 2, "upstream", nodes=2) == []


def test_resources_of_job_and_runtime_count_together(world):
    cpu = {"resourcesPerNode": {"requests": {"cpu": 4}}, "args": QLORA}
    assert refused(world, "torchtune-llama3.2-1b", cpu, 1, None) == []
    assert len(refused(world, "torchtune-llama3.2-1b", cpu, 1, "upstream")) == 2


def test_multi_node_qlora_without_modules(world):
    trainer = {"numNodes": 2, "args": ["model.quantize_base=True"]}
    assert refused(world, "torchtune-llama3.3-70b", trainer, 2, None) == ["spec.trainer.numNodes"]


def test_other_commands_have_no_rules(world):
    assert refused(world, "torchtune-gemma2-9b", {"command": ["train"]}, 2, None) == []


def test_other_jobs_and_sidecars_are_not_asked_for_gpus(world):
    runtime, job, _ = tuned(world, gpus=1)
    side = {"name": "side", "image": "s", "resources": {"limits": {"nvidia.com/gpu": 4}}}
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"].insert(0, side)
    gpus = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    jobs.insert(0, world.replicated_job("side", step="", container=gpus))
    job["spec"]["trainer"] |= {"args": QLORA}
    assert admit(read(job), read(runtime)).errors == ()


def test_without_a_trainer_the_job_alone_is_looked_at(world):
    runtime, job, _ = tuned(world)
    runtime["metadata"]["name"] = job["spec"]["runtimeRef"]["name"] = "torchtune-llama3.2-1b"
    runtime["spec"]["template"]["spec"]["replicatedJobs"] = [world.replicated_job(container={"name": "x"})]
    job["spec"]["trainer"] |= {"args": QLORA}
    assert len(admit(read(job), read(runtime), compat="upstream").errors) == 2
