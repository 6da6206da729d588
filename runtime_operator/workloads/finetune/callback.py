"""Turns what the Trainer tells into our progress events, and our wishes into what the Trainer does.

Imported only when transformers is loaded anyway. `ProgressCallback` speaks, on the first process alone;
`GuardCallback` is on all of them: it marks and prunes checkpoints, and stops early or on SIGTERM.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from .checkpoints import PREFIX, mark_complete, prune
from .curve import read_steps, tokens_until
from .memory import held_now
from .progress import ProgressLog, StepEvent
from .settings import FinetuneSettings


class AlreadyDone(Exception):
    """The checkpoint is that of the last step; the Trainer would do one more."""


class ProgressCallback(TrainerCallback):  # type: ignore[misc]  # transformers carries no types for mypy
    """Follows one run on its first process."""

    def __init__(self, log: ProgressLog) -> None:
        self.log = log
        self.first_step = 0
        self.started = self.last_time = 0.0
        self.last_tokens = self.tokens_before = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Start the clock; the Trainer counts tokens from nought again when it goes on."""
        self.first_step = state.global_step
        self.tokens_before = tokens_until(read_steps(self.log.file), self.first_step)
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
                tokens=self.tokens_before + tokens,
                tokens_per_second=round((tokens - self.last_tokens) / max(1e-9, now - self.last_time), 1),
                remaining_seconds=round(seconds_a_step * (state.max_steps - state.global_step), 1),
                memory=held_now(),
            )
        )
        self.last_time, self.last_tokens = now, tokens

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: dict[str, Any], **rest: Any) -> None:
        """Held-out rows were looked at."""
        if "eval_loss" in metrics:
            self.log.held_out(state.global_step, metrics["eval_loss"])


class GuardCallback(TrainerCallback):  # type: ignore[misc]
    """Watches over one process of a run."""

    def __init__(self, settings: FinetuneSettings, *, processes: int, log: ProgressLog | None) -> None:
        self.settings = settings
        self.processes = processes
        self.log = log
        self.terminated = False
        self.stopped_early = False
        self.failed_saves = 0
        self.begun = False
        self._told = False
        self._before: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """From now on SIGTERM asks for a checkpoint."""
        self.stopped_early = self._has_seen_enough(state)
        if self.stopped_early or state.global_step >= state.max_steps:
            raise AlreadyDone
        self._before = signal.signal(signal.SIGTERM, self._on_signal)

    def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """What SIGTERM did before, it does again."""
        signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)

    def on_step_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Whatever a checkpoint holds has been read by now."""
        self.begun = True

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Log the last step, too; stop after this one, with a checkpoint, if any process was told to."""
        if state.global_step == state.max_steps:
            control.should_log = True
        if self._any_told() and state.global_step < state.max_steps:
            self.terminated = True
            control.should_save = control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """All processes have written their part, or the disk was full."""
        self._meet()
        if state.is_world_process_zero:
            folder = Path(args.output_dir)
            checkpoint = folder / f"{PREFIX}{state.global_step}"
            if checkpoint.is_dir() and (checkpoint / "trainer_state.json").is_file():
                mark_complete(checkpoint)
                prune(folder, keep=self.settings.keep_checkpoints)
                self._write("checkpoint", state.global_step)
            else:
                self.failed_saves += 1
                self._write("checkpoint_failed", state.global_step, reason="no space left on the disk")
        self._meet()

    def on_evaluate(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Stop when the held-out loss has not fallen for so many looks."""
        if self._has_seen_enough(state):
            self.stopped_early = True
            control.should_training_stop = True

    def _has_seen_enough(self, state: Any) -> bool:
        patience = self.settings.early_stopping
        losses = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
        if not patience or len(losses) <= patience:
            return False
        return bool(min(losses[-patience:]) >= min(losses[:-patience]))

    def _on_signal(self, number: int, frame: Any) -> None:
        self._told = True

    def _any_told(self) -> bool:
        """A signal reaches the processes at different steps; they must stop at the same one."""
        if self.processes == 1:
            return self._told
        import torch
        import torch.distributed as group

        device = "cuda" if group.get_backend() == "nccl" else "cpu"
        told = torch.tensor(int(self._told), device=device)
        group.all_reduce(told, op=group.ReduceOp.MAX)
        return bool(told.item())

    def _meet(self) -> None:
        if self.processes > 1:
            import torch.distributed as group

            group.barrier()

    def _write(self, event: str, step: int, **facts: Any) -> None:
        if self.log:
            self.log.write(event, step=step, **facts)
