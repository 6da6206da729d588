from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.finetune.heads import Tensor
from kfp_trainer.runtime_operator.workloads.finetune.machine import Gpu, Machine
from kfp_trainer.runtime_operator.workloads.finetune.model_facts import ModelFacts
from kfp_trainer.runtime_operator.workloads.finetune.plan import RowFacts, make_plan
from kfp_trainer.runtime_operator.workloads.finetune.settings import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.adapter import peft_name
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.checks import check_torchtune
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.overrides import Resume, recipe_for
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.pace import pace_of
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.shape import shape_of

PACKAGE = "kfp_trainer.runtime_operator.workloads.finetune.torchtune"
LLAMA_1B: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 128256,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "tie_word_embeddings": True,
}
SMOLLM: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "rms_norm_eps": 1e-5,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100000},
    "tie_word_embeddings": True,
}
QWEN: dict[str, Any] = {
    "model_type": "qwen2",
    "vocab_size": 151936,
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000.0,
    "tie_word_embeddings": True,
    "use_sliding_window": False,
}
PLAIN = {"rope_scaling": None}
FACTS = ModelFacts(
    tensors=(Tensor("model.layers.0.self_attn.q_proj.weight", "F32", (256, 256)),),
    context=2048,
    vocabulary=1000,
    width=256,
    layers=1,
    kind="llama",
    architectures=("LlamaForCausalLM",),
    quantised=None,
    needs_code=False,
)
CPU = Machine(memory=16 << 30)
GPU = Machine(memory=64 << 30, gpus=(Gpu("H200", 139 << 30, True),))

SHAPES: dict[str, tuple[Mapping[str, Any], dict[str, Any]]] = {
    "a Llama of three scales its frequencies": (LLAMA_1B, {"rope_base": 500000.0, "scale_factor": 32.0}),
    "one without scaling scales them by one": (LLAMA_1B | PLAIN, {"scale_factor": 1}),
    "the newer form of the frequencies counts": (SMOLLM, {"rope_base": 100000.0, "scale_factor": 1}),
    "without a base it is that of the first Llama": (
        {**LLAMA_1B, **PLAIN, "rope_theta": None},
        {"rope_base": 10000.0},
    ),
    "keys have heads of their own number": (LLAMA_1B, {"num_heads": 32, "num_kv_heads": 8}),
    "or as many as queries": (
        {name: value for name, value in LLAMA_1B.items() if name != "num_key_value_heads"},
        {"num_kv_heads": 32},
    ),
    "embeddings are tied or not": (
        LLAMA_1B | {"tie_word_embeddings": False},
        {"tie_word_embeddings": False},
    ),
    "Qwen has its own norm": (QWEN, {"norm_eps": 1e-6, "rope_base": 1000000.0, "vocab_size": 151936}),
}


@pytest.mark.parametrize("sentence", SHAPES)
def test_a_builder_is_given_what_the_model_is(sentence: str) -> None:
    config, expected = SHAPES[sentence]
    arguments = shape_of(config, tokens=512).arguments
    assert arguments.items() >= expected.items()
    assert arguments["max_seq_len"] == 512


NOT_MADE: dict[str, tuple[Mapping[str, Any], str]] = {
    "another family": (LLAMA_1B | {"model_type": "gemma3"}, "not gemma3; take trl"),
    "wider heads": (LLAMA_1B | {"head_dim": 128}, "heads of 128 numbers in a width of 2048"),
    "biases": (LLAMA_1B | {"attention_bias": True}, "attention_bias"),
    "another scaling": (LLAMA_1B | {"rope_scaling": {"type": "linear", "factor": 2}}, "scaling linear"),
    "a scaling from another length": (
        LLAMA_1B | {"rope_scaling": LLAMA_1B["rope_scaling"] | {"original_max_position_embeddings": 4096}},
        "original_max_position_embeddings 4096",
    ),
    "Qwen that scales": (QWEN | {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "scaling yarn"),
    "a sliding window": (QWEN | {"use_sliding_window": True}, "use_sliding_window"),
}


@pytest.mark.parametrize("sentence", NOT_MADE)
def test_a_model_that_would_be_built_wrong_is_refused(sentence: str) -> None:
    config, words = NOT_MADE[sentence]
    with pytest.raises(SpecError, match=words):
        shape_of(config, tokens=512)


def settings_of(**given: object) -> FinetuneSettings:
    folders = {"model": "/base", "dataset": "/rows", "backend": "torchtune", "batch_size": 8}
    return FinetuneSettings.model_validate({**folders, **given})


def overrides(
    config: Mapping[str, Any],
    *,
    processes: int = 1,
    machine: Machine = CPU,
    resume: Resume | None = None,
    **given: object,
) -> tuple[str, str, dict[str, str], list[str]]:
    settings = settings_of(**given)
    spread = {"spread": "fsdp2"} if processes > 1 else {}
    plan = make_plan(
        settings.model_copy(update=spread),
        model=FACTS,
        rows=RowFacts(100, 64),
        machine=machine,
        processes=processes,
        local_processes=processes,
    )
    pace = pace_of(settings, rows=100)
    recipe = recipe_for(
        settings,
        replace(plan, warmup_steps=1),
        shape=shape_of(config, tokens=plan.tokens),
        pace=pace,
        weights=["model.safetensors"],
        work=Path("/out/checkpoints/a"),
        resume=resume,
    )
    removed = [word for word in recipe.overrides if word.startswith("~")]
    pairs = (word.partition("=") for word in recipe.overrides if not word.startswith("~"))
    return recipe.name, recipe.configuration, {name: value for name, _, value in pairs}, removed


RECIPES: dict[str, tuple[Mapping[str, Any], dict[str, Any], str, str, dict[str, str | None]]] = {
    "LoRA beside every layer of a Llama": (
        LLAMA_1B,
        {},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {
            "model": "torchtune.models.llama3_2.lora_llama3_2",
            "model.lora_attn_modules": "[q_proj,k_proj,v_proj,output_proj]",
            "model.apply_lora_to_mlp": "True",
            "model.quantize_base": "False",
            "model.use_dora": "False",
            "save_adapter_weights_only": "True",
            "checkpointer.model_type": "LLAMA3_2",
            "optimizer": "torch.optim.AdamW",
            "optimizer.lr": "0.0002",
            "optimizer.fused": "True",
            "device": "cpu",
            "dtype": "fp32",
        },
    ),
    "all of a Llama in two processes": (
        LLAMA_1B,
        {"method": "full", "processes": 2},
        "full_finetune_distributed",
        "llama3_2/1B_full",
        {
            "model": "torchtune.models.llama3_2.llama3_2",
            "model.lora_rank": None,
            "save_adapter_weights_only": None,
            "optimizer_in_bwd": "False",
            "batch_size": "4",
        },
    ),
    "QLoRA of Qwen on a GPU": (
        QWEN,
        {"method": "qlora", "machine": GPU},
        "lora_finetune_single_device",
        "qwen2_5/1.5B_lora_single_device",
        {
            "model": "torchtune.models.qwen2.lora_qwen2",
            "model.quantize_base": "True",
            "model.scale_factor": None,
            "checkpointer.model_type": "QWEN2",
            "device": "cuda",
            "dtype": "bf16",
        },
    ),
    "DoRA of two layers, in parts": (
        SMOLLM,
        {"method": "dora", "lora_targets": "o_proj,q_proj", "accumulation": 2, "lora_rank": 4},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {
            "model.use_dora": "True",
            "model.lora_attn_modules": "[q_proj,output_proj]",
            "model.apply_lora_to_mlp": "False",
            "model.lora_rank": "4",
            "gradient_accumulation_steps": "2",
            "batch_size": "4",
        },
    ),
    "three epochs and a rate that falls evenly": (
        SMOLLM,
        {"epochs": 3, "schedule": "linear", "clip": 0, "packing": True, "answers_only": False},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {
            "epochs": "3",
            "max_steps_per_epoch": "12",
            "lr_scheduler.course": "linear",
            "lr_scheduler.steps": "36",
            "clip_grad_norm": "None",
            "dataset.packed": "True",
            "dataset.answers_only": "False",
        },
    ),
    "a resumed LoRA run goes on from its adapter": (
        SMOLLM,
        {"resume": Resume("checkpoint-12", ())},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {
            "resume_from_checkpoint": "True",
            "checkpointer.adapter_checkpoint": "checkpoint-12/adapter_model.pt",
            "checkpointer.recipe_checkpoint": "checkpoint-12/recipe_state.pt",
            "checkpointer.checkpoint_files": "[model.safetensors]",
        },
    ),
    "a resumed full run goes on from its weights": (
        SMOLLM,
        {"method": "full", "resume": Resume("checkpoint-12", ("model-00001-of-00001.safetensors",))},
        "full_finetune_single_device",
        "llama3_2/1B_full_single_device",
        {
            "checkpointer.adapter_checkpoint": None,
            "checkpointer.checkpoint_files": "[checkpoint-12/model-00001-of-00001.safetensors]",
        },
    ),
    "a folder with blanks is one value": (
        SMOLLM,
        {"model": "/my base"},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {"tokenizer.path": '"/my base"', "checkpointer.checkpoint_dir": '"/my base"'},
    ),
    "our rows, tokenizer, rate and log take part": (
        SMOLLM,
        {},
        "lora_finetune_single_device",
        "llama3_2/1B_lora_single_device",
        {
            "dataset": f"{PACKAGE}.rows.rows_of",
            "tokenizer": f"{PACKAGE}.tokenizer.FolderTokenizer",
            "lr_scheduler._component_": f"{PACKAGE}.schedule.rate_schedule",
            "metric_logger": f"{PACKAGE}.logger.ProgressLogger",
            "output_dir": "/out/checkpoints/a",
        },
    ),
}


@pytest.mark.parametrize("sentence", RECIPES)
def test_settings_become_a_recipe(sentence: str) -> None:
    config, given, name, configuration, expected = RECIPES[sentence]
    found_name, found_configuration, found, removed = overrides(config, **given)
    assert (found_name, found_configuration) == (name, configuration)
    assert {key: found.get(key) for key in expected} == expected
    assert removed == ["~metric_logger.log_dir"]


def test_only_adamw_is_fused() -> None:
    *_, found, removed = overrides(SMOLLM, optimizer="adafactor")
    assert found["optimizer"] == "torch.optim.Adafactor"
    assert "optimizer.fused" not in found
    assert "~optimizer.fused" in removed


def test_a_folder_that_the_command_line_would_misread_is_refused() -> None:
    with pytest.raises(SpecError, match="/a=b, which holds ="):
        overrides(SMOLLM, model="/a=b")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "pairs of answers": ({"objective": "dpo"}, "objective: torchtune learns answers only"),
    "a look at held-out rows": ({"eval_every": 5}, "eval_every: torchtune looks at no held-out rows"),
    "half an epoch": ({"epochs": 1.5}, "epochs: torchtune sees rows in whole epochs only"),
    "a tracker": ({"report_to": "tensorboard"}, "report_to: torchtune writes to no tracker"),
    "fp16": ({"precision": "fp16"}, "precision: torchtune has no fp16"),
    "whole models side by side": ({"spread": "ddp"}, "spread: torchtune shares a model out"),
    "a layer it has no name for": ({"lora_targets": "q_proj,qkv"}, "lora_targets: torchtune knows no qkv"),
    "a part of the feed-forward": ({"lora_targets": "q_proj,up_proj"}, "together or not at all"),
    "no layer of attention": ({"lora_targets": "gate_proj,up_proj,down_proj"}, "a layer of attention"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_no_recipe_does_is_refused(sentence: str) -> None:
    given, words = REFUSED[sentence]
    with pytest.raises(SpecError, match=words):
        check_torchtune(settings_of(**given), FACTS)


def test_part_of_an_epoch_is_fine_where_steps_are_counted() -> None:
    check_torchtune(settings_of(epochs=1.5, max_steps=10), FACTS)


def test_qlora_needs_whole_blocks_of_weights() -> None:
    check_torchtune(settings_of(method="qlora"), FACTS)
    odd = Tensor("model.layers.0.self_attn.k_proj.weight", "F32", (192, 576))
    with pytest.raises(
        SpecError, match=r"16,384 weights and model.layers.0.self_attn.k_proj.weight has 192 x 576"
    ):
        check_torchtune(settings_of(method="qlora"), replace(FACTS, tensors=(*FACTS.tensors, odd)))
    with pytest.raises(
        SpecError, match=r"qlora on 8 processes needs layers of a multiple of 131,072 weights"
    ):
        check_torchtune(settings_of(method="qlora"), FACTS, processes=8)
    check_torchtune(settings_of(method="qlora"), FACTS, processes=4)
    check_torchtune(settings_of(method="lora"), replace(FACTS, tensors=(odd,)))


PACES: dict[str, tuple[dict[str, Any], tuple[int, int, int, int]]] = {
    "one epoch of full steps": ({}, (1, 12, 12, 12)),
    "three": ({"epochs": 3}, (3, 12, 12, 36)),
    "a few steps": ({"max_steps": 5}, (1, 12, 5, 5)),
    "as many as an epoch has": ({"max_steps": 12}, (1, 12, 12, 12)),
    "more, the last epoch being shorter": ({"max_steps": 29}, (3, 12, 5, 29)),
}


@pytest.mark.parametrize("sentence", PACES)
def test_steps_are_dealt_out_to_epochs(sentence: str) -> None:
    given, (epochs, steps, last, total) = PACES[sentence]
    pace = pace_of(settings_of(**given), rows=100)
    assert (pace.epochs, pace.steps, pace.last, pace.total) == (epochs, steps, last, total)


def test_a_step_larger_than_the_data_is_refused() -> None:
    with pytest.raises(SpecError, match="batch_size: 8 and there are 7 rows, give at most 7"):
        pace_of(settings_of(), rows=7)


NAMES = {
    "layers.3.attn.q_proj.lora_a.weight": "layers.3.self_attn.q_proj.lora_A.weight",
    "layers.0.attn.output_proj.lora_b.weight": "layers.0.self_attn.o_proj.lora_B.weight",
    "layers.11.mlp.w2.lora_b.weight": "layers.11.mlp.down_proj.lora_B.weight",
    "layers.1.attn.k_proj.magnitude": "layers.1.self_attn.k_proj.lora_magnitude_vector",
}


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_is_named_as_peft_does(name: str) -> None:
    assert peft_name(name) == f"base_model.model.model.{NAMES[name]}"
