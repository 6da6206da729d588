"""From settings to a recipe of TorchTune, one of its own configurations, and what is set over it.

The configuration says which parts a recipe has; every number that decides the losses is set here. What comes
out is a command line: `tune run RECIPE --config CONFIGURATION key=value …` does the same elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....errors import SpecError
from ..plan import Plan
from ..settings import FinetuneSettings
from .checks import adapted_layers
from .shape import Shape
from .shims import Pace

HERE = __name__.rpartition(".")[0]
CONFIGURATIONS = {"llama": "llama3_2/1B", "qwen2": "qwen2_5/1.5B"}
OPTIMIZERS = {
    "adamw": "torch.optim.AdamW",
    "adamw_8bit": "bitsandbytes.optim.AdamW8bit",
    "paged_adamw_8bit": "bitsandbytes.optim.PagedAdamW8bit",
    "adafactor": "torch.optim.Adafactor",
    "sgd": "torch.optim.SGD",
}
PLAIN = re.compile(r"[A-Za-z_/.][\w/.-]*")


@dataclass(frozen=True, slots=True)
class Resume:
    """A checkpoint to go on from: its folder's name and the files of its weights."""

    name: str
    weights: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One call of `tune run`."""

    name: str
    configuration: str
    overrides: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        """What follows the recipe on a command line."""
        return ["--config", self.configuration, *self.overrides]


def recipe_for(
    settings: FinetuneSettings,
    plan: Plan,
    *,
    shape: Shape,
    pace: Pace,
    weights: Sequence[str],
    work: Path,
    resume: Resume | None = None,
) -> Recipe:
    """The recipe that does what `settings` say.

    `weights` are the model's files, `work` takes the checkpoints.
    """
    kind = "lora" if settings.has_adapter else "full"
    place = "distributed" if plan.processes > 1 else "single_device"
    configuration = f"{CONFIGURATIONS[shape.family]}_{kind}" + (
        "" if plan.processes > 1 else "_single_device"
    )
    parts = {
        **_model(settings, shape),
        **_learning(settings, plan, pace),
        **_rows(settings, plan),
        **_machine(settings, plan),
        **_files(settings, shape, weights=weights, work=work, resume=resume),
    }
    written = (f"{name}={_value(value)}" for name, value in parts.items())
    removed = ["~metric_logger.log_dir"]
    if settings.optimizer != "adamw" and not configuration.endswith("_full_single_device"):
        removed.append("~optimizer.fused")
    return Recipe(f"{kind}_finetune_{place}", configuration, (*removed, *written))


def _model(settings: FinetuneSettings, shape: Shape) -> dict[str, Any]:
    parts = {f"model.{name}": value for name, value in shape.arguments.items()}
    if not settings.has_adapter:
        return {"model": shape.full, **parts}
    attention, forward = adapted_layers(settings)
    return {
        "model": shape.adapted,
        **parts,
        "model.lora_attn_modules": attention,
        "model.apply_lora_to_mlp": forward,
        "model.lora_rank": settings.lora_rank,
        "model.lora_alpha": settings.lora_alpha,
        "model.lora_dropout": settings.lora_dropout,
        "model.use_dora": settings.method == "dora",
        "model.quantize_base": settings.method == "qlora",
    }


def _learning(settings: FinetuneSettings, plan: Plan, pace: Pace) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "seed": settings.seed,
        "epochs": pace.epochs,
        "max_steps_per_epoch": pace.steps,
        "batch_size": plan.rows,
        "gradient_accumulation_steps": plan.accumulation,
        "clip_grad_norm": settings.clip or None,
        "optimizer": OPTIMIZERS[settings.optimizer],
        "optimizer.lr": settings.rate,
        "optimizer.weight_decay": settings.weight_decay,
        "lr_scheduler._component_": f"{HERE}.schedule.rate_schedule",
        "lr_scheduler.course": settings.schedule,
        "lr_scheduler.num_warmup_steps": plan.warmup_steps,
        "lr_scheduler.steps": pace.total,
    }
    if settings.optimizer == "adamw":
        parts["optimizer.fused"] = True
    if not settings.has_adapter:
        parts["optimizer_in_bwd"] = False
    return parts


def _rows(settings: FinetuneSettings, plan: Plan) -> dict[str, Any]:
    return {
        "tokenizer": f"{HERE}.tokenizer.FolderTokenizer",
        "tokenizer.path": settings.model.absolute(),
        "tokenizer.max_seq_len": plan.tokens,
        "dataset": f"{HERE}.rows.rows_of",
        "dataset.source": settings.dataset.absolute(),
        "dataset.answers_only": settings.answers_only,
        "dataset.packed": settings.packing,
        "dataset.seed": settings.seed,
        "shuffle": True,
    }


def _machine(settings: FinetuneSettings, plan: Plan) -> dict[str, Any]:
    return {
        "device": "cuda" if plan.device == "gpu" else "cpu",
        "dtype": plan.precision,
        "compile": settings.compile,
        "enable_activation_checkpointing": plan.gradient_checkpointing,
        "enable_activation_offloading": False,
        "log_peak_memory_stats": False,
        "log_every_n_steps": 1,
        "metric_logger": f"{HERE}.logger.ProgressLogger",
    }


def _files(
    settings: FinetuneSettings, shape: Shape, *, weights: Sequence[str], work: Path, resume: Resume | None
) -> dict[str, Any]:
    files = list(weights)
    parts: dict[str, Any] = {
        "output_dir": work.absolute(),
        "checkpointer": "torchtune.training.FullModelHFCheckpointer",
        "checkpointer.checkpoint_dir": settings.model.absolute(),
        "checkpointer.model_type": shape.checkpoint,
        "resume_from_checkpoint": resume is not None,
    }
    if settings.has_adapter:
        parts["save_adapter_weights_only"] = True  # merged once, by us, into a folder of its own
    if resume:
        parts["checkpointer.recipe_checkpoint"] = f"{resume.name}/recipe_state.pt"
        if settings.has_adapter:
            parts["checkpointer.adapter_checkpoint"] = f"{resume.name}/adapter_model.pt"
        else:
            files = [f"{resume.name}/{name}" for name in resume.weights]
    return {**parts, "checkpointer.checkpoint_files": files}


def _value(value: Any) -> str:
    """One value as the command line of TorchTune takes it."""
    if isinstance(value, list):
        return f"[{','.join(_value(each) for each in value)}]"
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    text = str(value)
    if "=" in text or "${" in text:
        raise SpecError(f"backend: torchtune cannot be given {text}, which holds = or ${{; rename it")
    return text if PLAIN.fullmatch(text) else json.dumps(text)
