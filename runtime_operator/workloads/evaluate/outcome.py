"""The files of an evaluation: complete or absent, and never those of another one.

A gate judges what lies in the folder. What an earlier evaluation left there goes before the first question
is asked, so that one that fails or is killed leaves nothing to judge; `evaluation.json` comes last.
"""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

from ...errors import SpecError
from ..files import write_text
from .comparison import EVALUATION_FILE, METRICS_FILE, REPORT_FILE, Evaluation
from .report import evaluation_report

FILES = (EVALUATION_FILE, METRICS_FILE, REPORT_FILE)


def clear_outcome(output: Path) -> None:
    """Make the folder, and remove what an evaluation has left in it, whole or half."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        (output / f".{EVALUATION_FILE}.part-tried").touch()
        for name in FILES:
            for file in (output / name, *output.glob(f".{name}.part-*")):
                file.unlink(missing_ok=True)
    except OSError as error:
        raise SpecError(f"output: {output} cannot be written, {error.strerror or error}") from None


def write_outcome(evaluation: Evaluation, output: Path) -> None:
    """Write the report, the flat figures, and at last the evaluation itself."""
    write_text(evaluation.report, evaluation_report(evaluation))
    numbers = {name: value for name, value in evaluation.metrics.items() if isfinite(value)}
    write_text(output / METRICS_FILE, json.dumps(numbers, indent=2) + "\n")
    write_text(output / EVALUATION_FILE, evaluation.model_dump_json(indent=2) + "\n")
