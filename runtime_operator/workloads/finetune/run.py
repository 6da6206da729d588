"""One fine-tuning run from settings to result: check, train, save, report.

What can be wrong with the input is said before torch is imported. A run that died is started again with the
same settings and goes on from its last complete checkpoint; checkpoints lie in a folder named by the
settings and the rows, so that a changed run never resumes another's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from ...errors import SpecError
from ..files import digest, write_text
from ..models import check_model
from ..quiet import quiet_libraries
from ..rows import Row, find_rows, read_rows
from ..threads import limit_threads
from .outputs import ADAPTER, CHECKPOINTS, MERGED, newest_checkpoint, save_outputs
from .processes import Place, read_place, share_of_batch
from .progress import ProgressLog
from .report import training_report
from .result import PROGRESS_FILE, REPORT_FILE, RESULT_FILE, FinetuneResult, Logged
from .settings import FinetuneSettings

LIBRARIES = ("torch", "transformers", "trl", "peft")


def finetune(settings: FinetuneSettings) -> FinetuneResult:
    """Fine-tune as `settings` say; under torchrun every process calls this and the first one writes."""
    place = read_place(os.environ)
    share_of_batch(settings.batch_size, place.processes)
    check_model(settings.model)
    file = find_rows(settings.dataset, "train")
    rows = read_rows(file)
    digests = {"model": digest(settings.model), "rows": digest(file)}
    log = _open_log(settings) if place.first else None
    try:
        result = _train(settings, rows, place=place, digests=digests, log=log)
    finally:
        if log:
            log.close()
    if place.first:
        _write_proof(result, settings.output)
        shutil.rmtree(settings.output / CHECKPOINTS, ignore_errors=True)
    return result


def _train(
    settings: FinetuneSettings,
    rows: list[Row],
    *,
    place: Place,
    digests: dict[str, str],
    log: ProgressLog | None,
) -> FinetuneResult:
    begun = time.perf_counter()
    limit_threads(settings.threads)
    quiet_libraries()
    from .trainer import build_trainer, count_tokens

    checkpoints = settings.output / CHECKPOINTS / _fingerprint(settings, digests)
    trainer = build_trainer(settings, rows, place=place, checkpoints=checkpoints, log=log)
    lengths = count_tokens(trainer.processing_class, rows)
    if min(lengths) > settings.sequence_length:
        raise SpecError(
            f"sequence_length: every row is longer than {settings.sequence_length} tokens, raise it"
        )
    parameters = _count(trainer.model)
    last = newest_checkpoint(checkpoints)
    resumed_from = int(last.name.rpartition("-")[2]) if last else 0
    if log:
        log.write("start", steps=trainer.args.max_steps, rows=len(rows), resumed_from=resumed_from)
    prepared = time.perf_counter()
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    trained = time.perf_counter()
    if place.first:
        model = trainer.accelerator.unwrap_model(trainer.model)
        save_outputs(model, trainer.processing_class, settings.output, lora=settings.method == "lora")
    saved = time.perf_counter()
    if log:
        log.write("end", step=trainer.state.global_step, seconds=round(saved - begun, 3))
    seconds = {"prepare": prepared - begun, "train": trained - prepared, "save": saved - trained}
    return FinetuneResult(
        model=settings.output / MERGED,
        adapter=settings.output / ADAPTER if settings.method == "lora" else None,
        report=settings.output / REPORT_FILE,
        resumed_from=resumed_from,
        rows=len(rows),
        truncated_rows=sum(length > settings.sequence_length for length in lengths),
        parameters=parameters["all"],
        trained_parameters=parameters["trained"],
        processes=place.processes,
        device=str(trainer.args.device.type),
        seconds={name: round(value, 3) for name, value in seconds.items()},
        digests=digests,
        versions={name: version(name) for name in LIBRARIES},
        settings=settings,
        **_losses(trainer.state, train_seconds=trained - prepared),
    )


def _losses(state: Any, *, train_seconds: float) -> dict[str, Any]:
    logged = [entry for entry in state.log_history if "loss" in entry]
    tokens = int(logged[-1].get("num_tokens", 0))
    return {
        "steps": state.global_step,
        "first_loss": logged[0]["loss"],
        "last_loss": logged[-1]["loss"],
        "tokens": tokens,
        "tokens_per_second": round(tokens / train_seconds, 1),
        "curve": [
            Logged(step=entry["step"], loss=entry["loss"], learning_rate=entry["learning_rate"])
            for entry in logged
        ],
    }


def _count(model: Any) -> dict[str, int]:
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return {"all": sum(size for size, _ in sizes), "trained": sum(size for size, trained in sizes if trained)}


def _open_log(settings: FinetuneSettings) -> ProgressLog:
    file = settings.output / PROGRESS_FILE
    resumes = any((settings.output / CHECKPOINTS).glob("*/checkpoint-*/trainer_state.json"))
    if not resumes:
        file.unlink(missing_ok=True)
    return ProgressLog(file, say=click.echo)


def _fingerprint(settings: FinetuneSettings, digests: dict[str, str]) -> str:
    """What decides the losses; where the files lie does not."""
    decisive = settings.model_dump_json(exclude={"model", "dataset", "output", "log_every"})
    return hashlib.sha256(f"{decisive}{sorted(digests.items())}".encode()).hexdigest()[:16]


def _write_proof(result: FinetuneResult, output: Path) -> None:
    write_text(result.report, training_report(result))
    write_text(output / RESULT_FILE, result.model_dump_json(indent=2) + "\n")
