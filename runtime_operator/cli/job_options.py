"""What the commands on jobs have in common: which namespace, and how a job is printed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import click

from ..jobs import Job

Output = Literal["yaml", "json"]

namespace_option = click.option(
    "-n", "--namespace", default="default", show_default=True, help="Namespace of the job."
)
output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    help="Print data for a program.  [default: a table for a person]",
)
name_argument = click.argument("name")

COLOURS = {"Complete": "green", "Failed": "red", "Running": "cyan", "Suspended": "yellow"}


def paint_phase(phase: str, width: int = 0) -> str:
    """The phase in its colour."""
    return click.style(phase.ljust(width), fg=COLOURS.get(phase))


def job_document(job: Job) -> dict[str, Any]:
    """The job as a program reads it: the TrainJob with its status."""
    return dict(job.train_job)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows under each other, in columns as wide as they must be."""
    widths = [max(len(click.unstyle(row[column])) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(_row(row, widths) for row in rows)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - len(click.unstyle(cell))) for cell, width in zip(row, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def age(seconds: float) -> str:
    """A time span as people say it."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}" if seconds >= 10 * size else f"{seconds / size:.1f}{unit}"
    return f"{seconds:.0f}s"


def clock(moment: float) -> str:
    """A moment as the clock on the wall shows it."""
    return datetime.fromtimestamp(moment, UTC).astimezone().strftime("%H:%M:%S")
