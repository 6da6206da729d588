"""One fine-tuning run from settings to result: check, plan, train, save, report.

What can be wrong with the input is said before torch is imported. A run that died or was told to stop is
started again with the same settings and goes on from its last complete checkpoint; checkpoints lie in a
folder named by the settings and the rows, so that a changed run never resumes another's.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace

from ..export import check_export
from ..files import digest
from ..live import LiveLine
from .checkpoints import newest_checkpoint, telling_full_disk
from .explain import explain
from .given import Given, check_given
from .launching import processes_to_start
from .machine import read_machine
from .oddities import oddities
from .outputs import CHECKPOINTS, clear_leftovers
from .plan import check_memory, fit_batch
from .preflight import (
    check_tracker,
)
from .processes import Place
from .progress import ProgressLog
from .proof import push_model, write_proof
from .result import PROGRESS_FILE, FinetuneResult
from .settings import FinetuneSettings
from .stopwatch import Stopwatch
from .torchtune.preparing import Run
from .torchtune.train import train as train_by_recipe
from .trl_training import train_with_trl


def finetune(settings: FinetuneSettings) -> FinetuneResult:
    """Fine-tune as `settings` say; under torchrun every process calls this and the first one writes."""
    watch = Stopwatch()
    with watch.measuring("prepare"):
        given = check_given(settings)
        check_memory(given.early_plan())
        if given.place.first:
            check_tracker(settings)
            if settings.push:
                check_export(settings.push, setting="push")
        digests = {"model": digest(settings.model), "rows": given.rows.digest}
        log = _open_log(settings) if given.place.first else None
    try:
        with telling_full_disk(settings.output):
            result = _by_backend(given, digests=digests, watch=watch, log=log)
    finally:
        if log:
            log.close()
    if given.place.first:
        result = result.model_copy(update={"warnings": oddities(result)})
        write_proof(result)
        if settings.push:
            result = push_model(result, settings.push)
        shutil.rmtree(settings.output / CHECKPOINTS, ignore_errors=True)
    return result


def _by_backend(
    given: Given, *, digests: dict[str, str], watch: Stopwatch, log: ProgressLog | None
) -> FinetuneResult:
    settings = given.settings
    if settings.backend == "trl":
        return train_with_trl(given, digests=digests, watch=watch, log=log)
    checkpoints = given.checkpoints(digests)
    run = Run(settings, given.place, given.model, given.rows, digests, checkpoints)
    return train_by_recipe(run, log=log)


def explain_run(settings: FinetuneSettings) -> str:
    """What `finetune` would do with the same settings here."""
    given = check_given(settings)
    if settings.push:
        check_export(settings.push, setting="push", offline=True)
    processes = processes_to_start(settings, read_machine(), os.environ)
    if processes > 1:  # as the command would start them
        settings = fit_batch(given.settings, processes)
        given = replace(given, settings=settings, place=Place(0, processes, local=processes))
    return explain(given.settings, given.early_plan(), rows=len(given.rows.train))


def _open_log(settings: FinetuneSettings) -> ProgressLog:
    clear_leftovers(settings.output)
    file = settings.output / PROGRESS_FILE
    resumes = any(newest_checkpoint(run) for run in (settings.output / CHECKPOINTS).glob("*"))
    if not resumes:
        file.unlink(missing_ok=True)
    live = LiveLine(sys.stdout)
    return ProgressLog(file, say=live.say, end=live.end)
