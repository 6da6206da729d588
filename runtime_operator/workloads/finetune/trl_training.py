"""The TRL back end: trains a run that is in order, from its last checkpoint on, and tells what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from ...errors import JobFailed, Retryable, SpecError
from ..models import load_tokenizer
from ..quiet import quiet_libraries
from ..threads import limit_threads
from .checkpoints import newest_checkpoint, step_of
from .curve import read_steps
from .given import Given
from .launching import take_one_gpu
from .memory import held_at_most
from .outcome import chosen, curves
from .outputs import ADAPTER, MERGED, save_outputs
from .padding import padding_share
from .plan import Plan, RowFacts, check_memory
from .progress import ProgressLog
from .result import PROGRESS_FILE, REPORT_FILE, FinetuneResult
from .settings import FinetuneSettings
from .stopwatch import Stopwatch

if TYPE_CHECKING:
    from .callback import GuardCallback

LIBRARIES = ("torch", "transformers", "trl", "peft")
UNREADABLE = (OSError, ValueError, RuntimeError, KeyError, EOFError, UnpicklingError)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that could begin at once."""

    trainer: Any
    plan: Plan
    guard: GuardCallback
    lengths: list[int]
    checkpoints: Path

    @property
    def padding(self) -> float:
        """About how much of what is computed is padding."""
        return round(padding_share(self.lengths, together=self.plan.rows, limit=self.plan.tokens), 4)


def train_with_trl(
    given: Given, *, digests: dict[str, str], watch: Stopwatch, log: ProgressLog | None
) -> FinetuneResult:
    """Train, save, and return what there is to tell; Retryable where the run was told to stop."""
    settings = given.settings
    if given.place.alone:
        take_one_gpu()
    limit_threads(settings.threads)
    with watch.measuring("prepare"):
        quiet_libraries()
        ready = _prepare(given, digests=digests, watch=watch, log=log)
    last = newest_checkpoint(ready.checkpoints)
    resumed_from = step_of(last) if last else 0
    sizes = [(weight.numel(), weight.requires_grad) for weight in ready.trainer.model.parameters()]
    trained = sum(size for size, learns in sizes if learns)
    if log:
        log.write("start", steps=ready.plan.steps, rows=len(given.rows.train), resumed_from=resumed_from)
    with watch.measuring("train"):
        _run(ready, last)
    if ready.guard.terminated:
        _say_stopped(ready, log)
    with watch.measuring("save"):
        save_outputs(ready.trainer, settings, ready.plan)
    seconds = watch.seconds
    if log:
        log.write("end", step=ready.trainer.state.global_step, seconds=round(sum(seconds.values()), 3))
    told = read_steps(settings.output / PROGRESS_FILE)
    return FinetuneResult(
        model=settings.output / (MERGED if settings.merge else ADAPTER),
        adapter=settings.output / ADAPTER if settings.has_adapter else None,
        report=settings.output / REPORT_FILE,
        resumed_from=resumed_from,
        rows=len(given.rows.train),
        truncated_rows=sum(length > settings.sequence_length for length in ready.lengths),
        parameters=given.model.parameters + (trained if settings.has_adapter else 0),
        trained_parameters=trained,
        processes=given.place.processes,
        device=str(ready.trainer.args.device.type),
        seconds=seconds,
        digests=digests | {"settings": settings.digest},
        versions={name: version(name) for name in LIBRARIES},
        settings=settings,
        peak_memory=held_at_most(),
        padding_share=0.0 if settings.packing else ready.padding,
        stopped_early=ready.guard.stopped_early,
        failed_checkpoints=ready.guard.failed_saves,
        **chosen(ready.plan),
        **curves(ready.trainer.state, told, seconds=seconds["train"], resumed_from=resumed_from),
    )


def _prepare(given: Given, *, digests: dict[str, str], watch: Stopwatch, log: ProgressLog | None) -> _Ready:
    from .callback import GuardCallback
    from .tokens import pair_lengths
    from .trainer import build_trainer, count_sequences, training_data

    settings = given.settings
    if settings.report_to:
        _name_trackers(settings)
    tokenizer = load_tokenizer(settings.model)
    train = training_data(settings, tokenizer, given.rows.train)
    if settings.objective == "dpo":
        lengths = pair_lengths(tokenizer, given.rows.train)
    else:
        lengths = [len(ids) for ids in train["input_ids"]]
    if min(lengths) > settings.sequence_length and given.rows.has_turns:
        raise SpecError(
            f"sequence_length: every row is longer than {settings.sequence_length} tokens, raise it"
        )
    plan = given.plan(RowFacts(count_sequences(settings, train), max(lengths)))
    check_memory(plan)
    guard = GuardCallback(settings, processes=given.place.processes, log=log)
    checkpoints = given.checkpoints(digests)
    held_out = training_data(settings, tokenizer, given.rows.held_out) if given.rows.held_out else None
    with watch.measuring("load"):
        trainer = build_trainer(
            settings,
            plan,
            tokenizer=tokenizer,
            train=train,
            held_out=held_out,
            checkpoints=checkpoints,
            guard=guard,
            watch=watch,
            log=log,
        )
    return _Ready(trainer, plan, guard, lengths, checkpoints)


def _run(ready: _Ready, last: Path | None) -> None:
    """Train, and say what to lower where memory runs out."""
    import torch
    from safetensors import SafetensorError

    from .callback import AlreadyDone

    try:
        ready.trainer.train(resume_from_checkpoint=str(last) if last else None)
    except AlreadyDone:
        return
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise JobFailed(ready.plan.too_large("take method qlora or spread fsdp2")) from error
    except (*UNREADABLE, SafetensorError) as error:
        if last is None or ready.guard.begun:
            raise
        text = " ".join(str(error).split())[:200]
        raise JobFailed(
            f"output: the checkpoint {last} cannot be read ({type(error).__name__}: {text}), remove that "
            "folder to go on from the one before, or to begin anew"
        ) from error


def _say_stopped(ready: _Ready, log: ProgressLog | None) -> None:
    step = ready.trainer.state.global_step
    if log:
        log.write("stopped", step=step, of=ready.plan.steps)
    raise Retryable(
        f"the run was told to stop at step {step} of {ready.plan.steps}, start it again to go on", after=0
    )


def _name_trackers(settings: FinetuneSettings) -> None:
    """Where the libraries behind `report_to` look for what they are told."""
    os.environ.setdefault("TENSORBOARD_LOGGING_DIR", str(settings.output / "tensorboard"))
    os.environ.setdefault("MLFLOW_EXPERIMENT_NAME", "kfp-trainer")
