"""What a run tells of itself in its result: what was chosen, and the curves from first step to last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .curve import logged, tokens_until
from .plan import Plan
from .result import Evaluated


def chosen(plan: Plan) -> dict[str, Any]:
    """The result's fields that the plan decided."""
    return {
        "precision": plan.precision,
        "spread": plan.spread,
        "rows_at_once": plan.rows,
        "accumulation": plan.accumulation,
        "gradient_checkpointing": plan.gradient_checkpointing,
        "estimated_memory": plan.memory,
    }


def curves(
    state: Any, told: Mapping[int, Mapping[str, Any]], *, seconds: float, resumed_from: int
) -> dict[str, Any]:
    """The result's fields that the Trainer's state holds, with what was `told` of each step beside it."""
    entries = [entry for entry in state.log_history if "loss" in entry]
    looks = [entry for entry in state.log_history if "eval_loss" in entry]
    tokens = tokens_until(told, state.global_step)
    here = tokens - tokens_until(told, resumed_from)
    return {
        "steps": state.global_step,
        "first_loss": entries[0]["loss"],
        "last_loss": entries[-1]["loss"],
        "tokens": tokens,
        "tokens_per_second": round(here / max(seconds, 1e-9), 1),
        "curve": [
            logged(entry["step"], entry["loss"], entry["learning_rate"], told.get(entry["step"], {}))
            for entry in entries
        ],
        "held_out": [Evaluated(step=entry["step"], loss=entry["eval_loss"]) for entry in looks],
    }
