"""What the settings ask for that TorchTune has not, one sentence each, before anything is loaded."""

from __future__ import annotations

from ....errors import SpecError
from ..model_facts import ModelFacts
from ..settings import FinetuneSettings

BLOCK = 256 * 64
"""the weights that 4-bit quantisation takes together: 256 scales of 64 weights each"""
LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ATTENTION = {"q_proj": "q_proj", "k_proj": "k_proj", "v_proj": "v_proj", "o_proj": "output_proj"}
FEED_FORWARD = LAYERS[4:]


def check_torchtune(settings: FinetuneSettings, model: ModelFacts, *, processes: int = 1) -> None:
    """Refuse what no recipe does; SpecError says which setting, and mostly that trl has it."""
    lacking = {
        "objective": settings.objective != "sft" and "learns answers only (sft)",
        "eval_every": settings.evaluates and "looks at no held-out rows",
        "report_to": bool(settings.report_to) and "writes to no tracker",
        "precision": settings.precision == "fp16" and "has no fp16",
        "spread": settings.spread == "ddp" and "shares a model out (fsdp2)",
        "epochs": settings.max_steps is None and settings.epochs % 1 and "sees rows in whole epochs only",
        "trust_remote_code": settings.trust_remote_code and "builds models by itself",
    }
    for name, reason in lacking.items():
        if reason:
            raise SpecError(f"{name}: torchtune {reason}, leave it out or take backend trl")
    if settings.has_adapter:
        adapted_layers(settings)
    if settings.method == "qlora":
        _check_blocks(model, processes)


def adapted_layers(settings: FinetuneSettings) -> tuple[list[str], bool]:
    """The layers of attention that LoRA is put on, and whether it is put on the feed-forward ones."""
    names = LAYERS if settings.lora_targets == ("all-linear",) else settings.lora_targets
    unknown = sorted(set(names) - set(LAYERS))
    if unknown:
        raise SpecError(f"lora_targets: torchtune knows no {unknown[0]}, it has {', '.join(LAYERS)}")
    forward = set(names) & set(FEED_FORWARD)
    if forward and len(forward) < len(FEED_FORWARD):
        raise SpecError(
            f"lora_targets: torchtune takes {', '.join(FEED_FORWARD)} together or not at all, name all"
        )
    attention = [ATTENTION[name] for name in ATTENTION if name in names]
    if not attention:
        raise SpecError("lora_targets: torchtune wants a layer of attention as well, add q_proj or v_proj")
    return attention, bool(forward)


def _check_blocks(model: ModelFacts, processes: int) -> None:
    """Quantising, or sharing out, would fail after loading with a sentence about scalers."""
    needed = BLOCK * processes
    for tensor in model.linear:
        if tensor.size % needed:
            shape = " x ".join(map(str, tensor.shape))
            among = f" on {processes} processes" if processes > 1 else ""
            raise SpecError(
                f"method: torchtune's qlora{among} needs layers of a multiple of {needed:,} weights and "
                f"{tensor.name} has {shape}, take backend trl or method lora"
            )
