"""The one place that speaks to TRL: from settings and rows to a trainer ready to run.

Everything that decides the losses is set here and nowhere else: the seed before LoRA's random start, loss
on the answers only, a cosine schedule after a short warm-up, no gradient checkpointing, float32 on a CPU
and bfloat16 on a GPU.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...errors import SpecError
from ..models import load_model, load_tokenizer
from ..rows import Row
from .callback import ProgressCallback
from .processes import Place, share_of_batch
from .progress import ProgressLog
from .settings import FinetuneSettings

WARMUP_SHARE = 0.05
KEPT_CHECKPOINTS = 2


def build_trainer(
    settings: FinetuneSettings, rows: list[Row], *, place: Place, checkpoints: Path, log: ProgressLog | None
) -> Any:
    """A TRL trainer for `settings`; only the first process is given a `log`."""
    from datasets import Dataset
    from transformers import set_seed
    from trl import SFTTrainer

    set_seed(settings.seed)
    tokenizer = load_tokenizer(settings.model)
    model = load_model(settings.model)
    _check_length(settings, model)
    steps = settings.max_steps or math.ceil(settings.epochs * math.ceil(len(rows) / settings.batch_size))
    try:
        trainer = SFTTrainer(
            model=model,
            args=_config(settings, steps=steps, place=place, checkpoints=checkpoints),
            train_dataset=Dataset.from_list([_chat_row(row) for row in rows]),
            processing_class=tokenizer,
            peft_config=_lora(settings) if settings.method == "lora" else None,
            callbacks=[ProgressCallback(log)] if log else [],
        )
    except ValueError as error:
        if "arget modules" not in str(error):
            raise
        names = ", ".join(settings.lora_targets)
        raise SpecError(f"lora_targets: {names} match no layer of {settings.model}, try all-linear") from None
    _mute(trainer)
    return trainer


def count_tokens(tokenizer: Any, rows: list[Row]) -> list[int]:
    """The length of every row as the model reads it."""
    texts = [
        tokenizer.apply_chat_template(turns["prompt"] + turns["completion"], tokenize=False)
        for turns in map(_chat_row, rows)
    ]
    return [len(tokens) for tokens in tokenizer(texts, add_special_tokens=False)["input_ids"]]


def _chat_row(row: Row) -> dict[str, list[dict[str, str]]]:
    return {
        "prompt": [{"role": "user", "content": row.prompt}],
        "completion": [{"role": "assistant", "content": row.completion}],
    }


def _config(settings: FinetuneSettings, *, steps: int, place: Place, checkpoints: Path) -> Any:
    import torch
    from trl import SFTConfig

    cpu = not torch.cuda.is_available()
    return SFTConfig(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=share_of_batch(settings.batch_size, place.processes),
        learning_rate=settings.rate,
        lr_scheduler_type="cosine",
        warmup_steps=round(WARMUP_SHARE * steps),
        weight_decay=0.01,
        max_length=settings.sequence_length,
        completion_only_loss=True,
        gradient_checkpointing=False,
        bf16=not cpu,
        use_cpu=cpu,
        dataloader_pin_memory=not cpu,
        ddp_backend="gloo" if cpu and not place.alone else None,
        ddp_find_unused_parameters=False,
        seed=settings.seed,
        data_seed=settings.seed,
        logging_steps=settings.log_every,
        logging_first_step=True,
        save_strategy="steps" if settings.save_every else "no",
        save_steps=settings.save_every or steps,
        save_total_limit=KEPT_CHECKPOINTS,
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )


def _lora(settings: FinetuneSettings) -> Any:
    from peft import LoraConfig

    targets = settings.lora_targets
    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules="all-linear" if targets == ("all-linear",) else list(targets),
        task_type="CAUSAL_LM",
    )


def _check_length(settings: FinetuneSettings, model: Any) -> None:
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit and "sequence_length" in settings.model_fields_set and settings.sequence_length > limit:
        raise SpecError(
            f"sequence_length: {settings.sequence_length} is more than the {limit} tokens that "
            f"{settings.model} can read, give at most {limit}"
        )


def _mute(trainer: Any) -> None:
    """Without progress bars the Trainer prints its raw log dictionaries; our own lines take their place."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
