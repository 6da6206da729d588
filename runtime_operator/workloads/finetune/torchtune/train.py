"""One run by TorchTune, from checked settings to a result; the other back end's `finetune` calls it."""

from __future__ import annotations

import math
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...quiet import quiet_libraries
from ...threads import limit_threads
from ..checkpoints import newest_checkpoint, step_of
from ..curve import curve_of, read_steps
from ..memory import held_at_most
from ..outcome import chosen
from ..outputs import ADAPTER, MERGED
from ..padding import padding_share
from ..progress import ProgressLog
from ..result import PROGRESS_FILE, REPORT_FILE, FinetuneResult
from .epochs import run_epochs
from .outputs import parameters_of, save_outputs
from .preparing import Ready, Run, prepare

LIBRARIES = ("torch", "transformers", "torchtune", "torchao", "peft")


def train(run: Run, *, log: ProgressLog | None) -> FinetuneResult:
    """Train, save and tell; under torchrun every process calls this."""
    begun, settings = time.perf_counter(), run.settings
    limit_threads(settings.threads)
    quiet_libraries()
    ready = prepare(run)
    last = newest_checkpoint(run.checkpoints)
    resumed_from = step_of(last) if last else 0
    if log:
        log.write("start", steps=ready.pace.total, rows=len(run.rows.train), resumed_from=resumed_from)
    prepared = time.perf_counter()
    run_epochs(run, ready, last=last, log=log)
    trained = time.perf_counter()
    final = run.checkpoints / f"epoch_{ready.pace.epochs - 1}"
    count = 0
    if log:
        count = parameters_of(final)
        save_outputs(final, settings, shape=ready.shape)
        log.write("end", step=ready.pace.total, seconds=round(time.perf_counter() - begun, 3))
    seconds = {
        "prepare": prepared - begun,
        "train": trained - prepared,
        "save": time.perf_counter() - trained,
    }
    return FinetuneResult(
        model=settings.output / (MERGED if settings.merge or not settings.has_adapter else ADAPTER),
        adapter=settings.output / ADAPTER if settings.has_adapter else None,
        report=settings.output / REPORT_FILE,
        resumed_from=resumed_from,
        rows=len(run.rows.train),
        truncated_rows=sum(length > settings.sequence_length for length in ready.lengths),
        parameters=run.model.parameters + (count if settings.has_adapter else 0),
        trained_parameters=count,
        processes=run.place.processes,
        device="cuda" if ready.plan.device == "gpu" else "cpu",
        seconds={name: round(value, 3) for name, value in seconds.items()},
        digests=run.digests | {"settings": settings.digest},
        versions={name: version(name) for name in LIBRARIES},
        settings=settings,
        peak_memory=held_at_most(),
        padding_share=round(padding_share(ready.seen, together=ready.plan.rows, limit=max(ready.seen)), 4),
        **chosen(ready.plan),
        **_told(settings.output / PROGRESS_FILE if log else None, ready, seconds=trained - prepared),
    )


def _told(progress: Path | None, ready: Ready, *, seconds: float) -> dict[str, Any]:
    """The curve of the whole run: a resumed one has told its first steps before."""
    newest = read_steps(progress) if progress else {}
    curve = curve_of(newest)
    tokens = int(newest[max(newest)]["tokens"]) if newest else 0
    return {
        "steps": ready.pace.total,
        "first_loss": curve[0].loss if curve else math.nan,
        "last_loss": curve[-1].loss if curve else math.nan,
        "tokens": tokens,
        "tokens_per_second": round(tokens / seconds, 1),
        "curve": curve,
    }
