"""What stands beside the tuned model after a run (result, report, card), and its way to where it lasts.

The run's own folder is complete before anything is pushed: where a push fails, nothing is lost.
"""

from __future__ import annotations

import time

import click

from ...errors import KfpTrainerError
from ..card import write_cards
from ..export import ExportSettings, export
from ..files import write_text
from .report import training_report
from .result import RESULT_FILE, FinetuneResult


def write_proof(result: FinetuneResult) -> None:
    """Write all that tells of a run."""
    _write_record(result)
    write_cards(result)


def push_model(result: FinetuneResult, to: str) -> FinetuneResult:
    """Bring the model, card and all, to where it lasts, and keep where that is."""
    begun = time.perf_counter()
    try:
        done = export(ExportSettings(model=result.model, to=to))
    except KfpTrainerError as error:
        error.args = (f"{error}; the tuned model is complete in {result.model}",)
        raise
    click.echo(f"pushed to {done.location}")
    seconds = result.seconds | {"push": round(time.perf_counter() - begun, 3)}
    found = {"pushed": done.location, "pushed_digest": done.digest, "seconds": seconds}
    result = result.model_copy(update=found)
    _write_record(result)
    return result


def _write_record(result: FinetuneResult) -> None:
    write_text(result.report, training_report(result))
    write_text(result.settings.output / RESULT_FILE, result.model_dump_json(indent=2) + "\n")
