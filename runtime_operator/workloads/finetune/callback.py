"""Turns what the Trainer logs into our progress events. Imported only when transformers is loaded anyway."""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback

from .progress import ProgressLog, StepEvent


class ProgressCallback(TrainerCallback):  # type: ignore[misc]  # transformers carries no types for mypy
    """Follows one run on its first process."""

    def __init__(self, log: ProgressLog) -> None:
        self.log = log
        self.first_step = 0
        self.started = self.last_time = 0.0
        self.last_tokens = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Start the clock."""
        self.first_step = state.global_step
        self.started = self.last_time = time.perf_counter()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **rest: Any) -> None:
        """Write a step; the Trainer's closing summary has no loss of its own and is left out."""
        if "loss" not in logs:
            return
        now, tokens = time.perf_counter(), int(logs.get("num_tokens", 0))
        seconds_a_step = (now - self.started) / max(1, state.global_step - self.first_step)
        self.log.step(
            StepEvent(
                step=state.global_step,
                of=state.max_steps,
                epoch=round(state.epoch or 0.0, 4),
                loss=logs["loss"],
                learning_rate=logs.get("learning_rate", 0.0),
                gradient_norm=logs.get("grad_norm"),
                tokens=tokens,
                tokens_per_second=round((tokens - self.last_tokens) / max(1e-9, now - self.last_time), 1),
                remaining_seconds=round(seconds_a_step * (state.max_steps - state.global_step), 1),
            )
        )
        self.last_time, self.last_tokens = now, tokens

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """A checkpoint is complete."""
        self.log.write("checkpoint", step=state.global_step)
