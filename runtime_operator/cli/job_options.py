"""What the commands on jobs have in common: which namespace, and how a job is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from ..jobs import Job, open_jobs
from ..jobs.place import Place

Output = Literal["yaml", "json"]

Result = TypeVar("Result")

_PLACE_OPTIONS = (
    click.option("-n", "--namespace", default="", help="Namespace of the job.  [default: the usual one]"),
    click.option("--local", "place", flag_value="local", help="Jobs of this machine.  [default]"),
    click.option("--cluster", "place", flag_value="cluster", help="Jobs of a cluster.  [default: in a pod]"),
    click.option("--context", default="", metavar="NAME", help="Context of the kubeconfig; means --cluster."),
    click.option(
        "--kubeconfig",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="How to reach the cluster; means --cluster.",
    ),
)


def with_jobs(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command, as `jobs`, the jobs of the place that a person chose."""

    @wraps(command)
    def run(
        *given: Any,
        namespace: str,
        place: Place | None,
        context: str,
        kubeconfig: Path | None,
        **options: Any,
    ) -> Result:
        jobs = open_jobs(namespace=namespace, place=place, context=context, kubeconfig=kubeconfig)
        return command(*given, jobs=jobs, **options)

    for option in reversed(_PLACE_OPTIONS):
        run = option(run)
    return run


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
