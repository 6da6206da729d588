"""The arguments of TRL's trainers, from settings and plan.

Everything that decides the losses is set here and nowhere else; what the libraries would choose by
themselves is named, so that a newer one does not change a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .plan import Plan
from .settings import FinetuneSettings

OPTIMIZERS = {
    "adamw": "adamw_torch_fused",
    "adamw_8bit": "adamw_8bit",
    "paged_adamw_8bit": "paged_adamw_8bit",
    "adafactor": "adafactor",
    "sgd": "sgd",
}
SCHEDULES = {"cosine": "cosine", "linear": "linear", "constant": "constant_with_warmup"}


def trainer_config(settings: FinetuneSettings, plan: Plan, *, checkpoints: Path) -> Any:
    """The configuration of the objective's trainer."""
    from trl import DPOConfig, SFTConfig

    common = {**_learning(settings, plan), **_machine(settings, plan), **_following(settings, plan)}
    common |= {"output_dir": str(checkpoints), "max_length": settings.sequence_length}
    if settings.objective == "dpo":
        return DPOConfig(beta=settings.dpo_beta, **common)
    return SFTConfig(packing=settings.packing, completion_only_loss=settings.answers_only, **common)


def _learning(settings: FinetuneSettings, plan: Plan) -> dict[str, Any]:
    return {
        "max_steps": plan.steps,
        "per_device_train_batch_size": plan.rows,
        "per_device_eval_batch_size": plan.rows,
        "gradient_accumulation_steps": plan.accumulation,
        "learning_rate": settings.rate,
        "lr_scheduler_type": SCHEDULES[settings.schedule],
        "warmup_steps": plan.warmup_steps,
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.clip,
        "optim": OPTIMIZERS[settings.optimizer],
        "seed": settings.seed,
        "data_seed": settings.seed,
    }


def _machine(settings: FinetuneSettings, plan: Plan) -> dict[str, Any]:
    cpu = plan.device == "cpu"
    found: dict[str, Any] = {
        "bf16": plan.precision == "bf16",
        "fp16": plan.precision == "fp16",
        "use_cpu": cpu,
        "dataloader_pin_memory": not cpu,
        "gradient_checkpointing": plan.gradient_checkpointing,
        "torch_compile": settings.compile,
        "ddp_backend": "gloo" if cpu and plan.processes > 1 else None,
        "ddp_find_unused_parameters": False,
    }
    if plan.gradient_checkpointing:
        found["gradient_checkpointing_kwargs"] = {"use_reentrant": False}
    if plan.spread == "fsdp2":
        found["fsdp"] = True
        found["fsdp_config"] = {
            "version": 2,
            "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "state_dict_type": "FULL_STATE_DICT",
            "reshard_after_forward": True,
            "activation_checkpointing": plan.gradient_checkpointing,
        }
        found["gradient_checkpointing"] = False  # FSDP2 does it by itself
    return found


def _following(settings: FinetuneSettings, plan: Plan) -> dict[str, Any]:
    return {
        "logging_steps": settings.log_every,
        "logging_first_step": True,
        "logging_nan_inf_filter": False,  # a loss that is no number must be seen
        "save_strategy": "steps" if plan.save_every else "no",
        "save_steps": plan.save_every or plan.steps,
        "save_total_limit": None,  # checkpoints.py prunes, once the new one is complete
        "eval_strategy": "steps" if settings.evaluates else "no",
        "eval_steps": settings.eval_every,
        "report_to": list(settings.report_to) or "none",
        "disable_tqdm": True,
    }
