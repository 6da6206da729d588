"""A plan follows from settings, model, rows and machine alone."""

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.explain import explain
from kfp_trainer.runtime_operator.workloads.finetune.heads import Tensor
from kfp_trainer.runtime_operator.workloads.finetune.machine import Gpu, Machine
from kfp_trainer.runtime_operator.workloads.finetune.model_facts import ModelFacts
from kfp_trainer.runtime_operator.workloads.finetune.plan import (
    Plan,
    RowFacts,
    check_memory,
    make_plan,
    share_of_batch,
    trained_parameters,
)

GIB = 1 << 30
CPU = Machine(memory=24 * GIB)
H200 = Machine(memory=128 * GIB, gpus=(Gpu("H200", 139 * GIB, bf16=True),))
H100 = Machine(memory=128 * GIB, gpus=(Gpu("H100", 80 * GIB, bf16=True),))
OLD = Machine(memory=64 * GIB, gpus=(Gpu("T4", 15 * GIB, bf16=False),))


def llama(width: int, layers: int, inner: int, vocabulary: int) -> ModelFacts:
    """The weights of a Llama of this shape."""
    tensors = [Tensor("model.embed_tokens.weight", "BF16", (vocabulary, width))]
    for layer in range(layers):
        at = f"model.layers.{layer}"
        tensors += [Tensor(f"{at}.self_attn.{n}_proj.weight", "BF16", (width, width)) for n in "qkvo"]
        tensors += [Tensor(f"{at}.mlp.{n}_proj.weight", "BF16", (inner, width)) for n in ("gate", "up")]
        tensors += [Tensor(f"{at}.mlp.down_proj.weight", "BF16", (width, inner))]
        tensors += [Tensor(f"{at}.input_layernorm.weight", "BF16", (width,))]
    return ModelFacts(
        tensors=tuple(tensors),
        context=8192,
        vocabulary=vocabulary,
        width=width,
        layers=layers,
        kind="llama",
        architectures=("LlamaForCausalLM",),
        quantised=None,
        needs_code=False,
    )


SMALL = llama(576, 30, 1536, 49152)
EIGHT = llama(4096, 32, 14336, 128256)
SEVENTY = llama(8192, 80, 28672, 128256)


def plan(model: ModelFacts, machine: Machine, processes: int = 1, longest: int = 200, **more: object) -> Plan:
    given = {"model": "m", "dataset": "d", **more}
    settings = FinetuneSettings.model_validate(given)
    rows = RowFacts(count=1000, longest=longest)
    return make_plan(settings, model=model, rows=rows, machine=machine, processes=processes)


FOUR_K = {"longest": 4096, "sequence_length": 4096}
CHOSEN = {
    "a small model on a CPU: all at once, in float32": (
        plan(SMALL, CPU),
        {"device": "cpu", "precision": "fp32", "weights": "fp32", "rows": 16, "accumulation": 1},
    ),
    "the rows' real length counts, not what is allowed": (plan(SMALL, CPU), {"tokens": 200}),
    "steps are counted from rows": (plan(SMALL, CPU), {"steps": 63, "warmup_steps": 3, "save_every": 50}),
    "asked steps win": (plan(SMALL, CPU, max_steps=2000), {"steps": 2000, "save_every": 200}),
    "a short run is over before its first checkpoint": (plan(SMALL, CPU, max_steps=49), {"save_every": 0}),
    "no checkpoints if none are asked for": (plan(SMALL, CPU, save_every=0), {"save_every": 0}),
    "long rows on a CPU: in parts": (plan(SMALL, CPU, **FOUR_K), {"rows": 1, "accumulation": 16}),
    "8 billion on a GPU: bfloat16, in parts": (
        plan(EIGHT, H200, **FOUR_K),
        {"device": "gpu", "precision": "bf16", "weights": "bf16", "rows": 2, "gradient_checkpointing": False},
    ),
    "a GPU without bfloat16": (plan(SMALL, OLD), {"precision": "fp16", "weights": "fp16"}),
    "8 billion on a small GPU: of 4 bits it fits": (
        plan(EIGHT, OLD, method="qlora", longest=512),
        {"weights": "nf4", "fits": True},
    ),
    "8 billion, every weight, on eight GPUs: shared out": (
        plan(EIGHT, H100, 8, method="full"),
        {"spread": "fsdp2", "weights": "fp32", "rows": 2, "fits": True},
    ),
    "8 billion, LoRA, on eight GPUs: whole on each": (
        plan(EIGHT, H200, 8),
        {"spread": "ddp", "rows": 2, "accumulation": 1},
    ),
    "70 billion, LoRA, on four nodes of eight GPUs: shared out": (
        plan(SEVENTY, H200, 32, batch_size=32),
        {"spread": "fsdp2", "fits": True},
    ),
    "asked accumulation is kept": (plan(SMALL, CPU, accumulation=4), {"rows": 4, "accumulation": 4}),
    "asked checkpointing is kept": (
        plan(SMALL, CPU, gradient_checkpointing=True),
        {"gradient_checkpointing": True},
    ),
    "packed sequences are full": (plan(SMALL, CPU, packing=True), {"tokens": 1024}),
}


@pytest.mark.parametrize("sentence", CHOSEN)
def test_chosen(sentence: str) -> None:
    made, expected = CHOSEN[sentence]
    assert {name: getattr(made, name) for name in expected} == expected


def test_memory_shrinks_as_the_model_is_shared_out() -> None:
    alone = plan(EIGHT, H200, method="full").memory["weights"]
    shared = plan(EIGHT, H200, 8, method="full", spread="fsdp2").memory["weights"]
    assert alone == pytest.approx(8 * shared, abs=8)


def test_what_cannot_be_loaded_is_refused_with_what_to_do() -> None:
    check_memory(plan(EIGHT, H200))
    with pytest.raises(
        SpecError, match=r"need 31\.0 GiB a process in fp32 and there are 22\.1, take .*qlora"
    ):
        check_memory(plan(EIGHT, CPU, method="full"))


TRAINED = {
    "full: everything": ({"method": "full"}, SMALL.parameters),
    "one layer's kind": ({"lora_targets": "q_proj", "lora_rank": 8}, 30 * 8 * (576 + 576)),
    "dora: and a length for each output": (
        {"method": "dora", "lora_targets": "q_proj", "lora_rank": 8},
        30 * (8 * (576 + 576) + 576),
    ),
    "all-linear leaves embeddings out": ({"lora_rank": 1}, 30 * (4 * (576 + 576) + 3 * (1536 + 576))),
}


@pytest.mark.parametrize("sentence", TRAINED)
def test_trained(sentence: str) -> None:
    more, count = TRAINED[sentence]
    settings = FinetuneSettings.model_validate({"model": "m", "dataset": "d", **more})
    assert trained_parameters(settings, SMALL) == count


REFUSED = {
    "half precision on a CPU": ({"precision": "fp16"}, CPU, 1, "precision: fp16 needs a GPU"),
    "bfloat16 on a GPU that has none": ({"precision": "bf16"}, OLD, 1, "precision: T4 has no bf16"),
    "sharing out to oneself": ({"spread": "fsdp2"}, CPU, 1, "spread: .* there is one process"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence: str) -> None:
    more, machine, processes, words = REFUSED[sentence]
    with pytest.raises(SpecError, match=words):
        plan(SMALL, machine, processes, **more)


SHARES = {
    "one process takes all": (16, 1, None, 16),
    "four take a quarter each": (16, 4, None, 4),
    "parts leave the share as it is": (16, 2, 4, 8),
}


@pytest.mark.parametrize("sentence", SHARES)
def test_shares(sentence: str) -> None:
    batch, processes, parts, share = SHARES[sentence]
    settings = FinetuneSettings(model=Path("m"), dataset=Path("d"), batch_size=batch, accumulation=parts)
    assert share_of_batch(settings, processes) == share


UNEVEN = {
    "between two multiples": (16, 3, None, "16 rows do not divide among 3 processes, take 15 or 18"),
    "fewer rows than processes": (2, 4, None, "take 4"),
    "parts that do not divide": (16, 2, 3, "among 2 processes and 3 parts of accumulation, take 12 or 18"),
}


@pytest.mark.parametrize("sentence", UNEVEN)
def test_uneven_batches(sentence: str) -> None:
    batch, processes, parts, advice = UNEVEN[sentence]
    settings = FinetuneSettings(model=Path("m"), dataset=Path("d"), batch_size=batch, accumulation=parts)
    with pytest.raises(SpecError, match=advice):
        share_of_batch(settings, processes)


def test_a_plan_is_explained() -> None:
    settings = FinetuneSettings(model=Path("m"), dataset=Path("d"))
    text = explain(settings, plan(SMALL, CPU), rows=1000)
    assert "16 at once x 1 parts x 1 processes" in text
    assert "activations" in text
    assert "may not fit" not in text
    tight = Machine(memory=GIB)
    assert "it may not fit: lower batch_size" in explain(settings, plan(SMALL, tight), rows=1000)
