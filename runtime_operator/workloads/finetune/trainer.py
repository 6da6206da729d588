"""The one place that speaks to TRL: from settings, plan and rows to a trainer ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..dataset.example import Example
from .callback import GuardCallback, ProgressCallback
from .checkpoints import SafeSaving
from .config import trainer_config
from .plan import Plan
from .progress import ProgressLog
from .settings import FinetuneSettings
from .stopwatch import Stopwatch, Timed
from .tokens import check_learnt, preference_row, token_rows
from .weights import adapter_config, load_base


def training_data(settings: FinetuneSettings, tokenizer: Any, examples: Sequence[Example]) -> Any:
    """The rows as the objective's trainer takes them."""
    from datasets import Dataset

    if settings.objective == "dpo":
        return Dataset.from_list([preference_row(example) for example in examples])
    rows = token_rows(tokenizer, examples, answers_only=settings.answers_only)
    check_learnt(rows, model=settings.model, limit=settings.sequence_length)
    return Dataset.from_list(rows)


def count_sequences(settings: FinetuneSettings, data: Any) -> int:
    """How many rows there are to train on, once short ones are packed together."""
    if not settings.packing:
        return len(data)
    from trl import pack_dataset

    return len(pack_dataset(data.select_columns(["input_ids", "labels"]), settings.sequence_length, "bfd"))


def build_trainer(
    settings: FinetuneSettings,
    plan: Plan,
    *,
    tokenizer: Any,
    train: Any,
    held_out: Any,
    checkpoints: Path,
    guard: GuardCallback,
    watch: Stopwatch,
    log: ProgressLog | None,
) -> Any:
    """A trainer for `settings`; only the first process is given a `log`."""
    from transformers import set_seed

    set_seed(settings.seed)
    trainer = _kind(settings)(
        model=load_base(settings, plan),
        args=trainer_config(settings, plan, checkpoints=checkpoints),
        train_dataset=train,
        eval_dataset=held_out,
        processing_class=tokenizer,
        peft_config=adapter_config(settings),
        callbacks=[*([ProgressCallback(log)] if log else []), guard],
    )
    trainer.watch = watch
    _mute(trainer)
    return trainer


def _kind(settings: FinetuneSettings) -> Any:
    from trl import DPOTrainer, SFTTrainer

    class Sft(Timed, SafeSaving, SFTTrainer):  # type: ignore[misc]  # trl carries no types for mypy
        """Learns answers."""

    class Dpo(Timed, SafeSaving, DPOTrainer):  # type: ignore[misc]
        """Learns which answer is better."""

    return Dpo if settings.objective == "dpo" else Sft


def _mute(trainer: Any) -> None:
    """Without progress bars the Trainer prints its raw log dictionaries; our own lines take their place."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
