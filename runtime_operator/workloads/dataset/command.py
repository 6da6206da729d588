"""The commands `dataset check`, `dataset look` and `dataset slice`.

A refused dataset is exit code 2 and one sentence a problem, as everywhere; the report is written before.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from ...errors import FieldError, SetupError, SpecError
from ..command import settings_command
from .result import DatasetReport
from .settings import CheckSettings

LIBRARIES = ("orjson", "pyarrow")
SAID = 3  # rows told of each broken rule; the report has more
CHECK_HELP = """Check a dataset before a GPU is held: shape, roles, text, duplicates, leaks, token lengths.

    dataset check data --model base

Reads JSON lines, JSON, CSV, TSV, Parquet, Arrow and folders of save_to_disk, compressed or not. Writes
dataset_report.html, dataset_report.json and, if the data is accepted, data/train.jsonl and data/eval.jsonl
as fine-tuning reads them. Exits 2 when the data is refused.
"""


def dataset_command() -> click.Group:
    """The group, for a container's command line and for the project's own."""
    group = click.Group("dataset", help="Check, look at and slice a dataset: the rows a model is tuned on.")
    check = settings_command("check", CheckSettings, run=_check, help=CHECK_HELP)
    given = click.Argument(["dataset"], required=False, metavar="DIR|FILE")
    check.params = [given, *(parameter for parameter in check.params if parameter.name != "dataset")]
    group.add_command(check)
    group.add_command(_look)
    group.add_command(_slice)
    return group


def _check(settings: CheckSettings) -> None:
    _check_libraries()
    from .check import check_dataset

    report = check_dataset(settings, _progress if sys.stderr.isatty() else None)
    _tell(report)
    if not report.accepted:
        mistakes = [
            FieldError("", sentence) for finding in report.refusals for sentence in finding.sentences(SAID)
        ]
        raise SpecError(mistakes)


def _check_libraries() -> None:
    """The readers' libraries come with an extra; say which."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise SetupError(f"{' and '.join(missing)} not installed, run: pip install 'kfp-trainer[local]'")


def _progress(split: str, rows: int) -> None:
    """One line that is written over, for a person who waits."""
    click.echo(f"\r{split}: {rows:,} rows \r", nl=False, err=True)


def _tell(report: DatasetReport) -> None:
    for finding in report.findings:
        if finding.outcome != "refused":
            for sentence in finding.sentences(1):
                click.echo(f"{finding.outcome}: {sentence}", err=True)
    rows = ", ".join(f"{facts.rows:,} {name}" for name, facts in report.splits.items()) or "no"
    click.echo(f"{report.settings.name}: {rows} rows, {report.shape}, {report.seconds:.1f} s")
    if report.lengths:
        lengths = report.lengths
        over = f", {lengths.over:,} longer than {lengths.limit:,}" if lengths.limit else ""
        usual = f"median {lengths.median:,}, 99 of 100 at most {lengths.p99:,}, longest {lengths.most:,}"
        click.echo(f"{lengths.unit}: {usual}{over}")
    if report.data:
        rows = ", ".join(f"{count:,} {name}" for name, count in report.written.items())
        click.echo(f"rows: {report.data} ({rows}, {report.form})")
    click.echo(f"report: {report.report}")


@click.command(
    "look", help="Show the first rows of a dataset, its files and its shape, without reading it all."
)
@click.argument("dataset", metavar="DIR|FILE|URI")
@click.option(
    "--rows", type=click.IntRange(1), default=3, show_default=True, help="Rows to show of each split."
)
def _look(dataset: str, rows: int) -> None:
    _check_libraries()
    from ..fetch.command_line import hide_argument
    from ..fetch.hidden import shown
    from .look import look, look_from_afar

    far = "://" in dataset
    if far and dataset != shown(dataset):
        hide_argument(dataset)
    lines = look_from_afar(dataset, os.environ, rows=rows) if far else look(Path(dataset), rows=rows)
    for line in lines:
        click.echo(line)


@click.command(
    "slice", help="Write a part of a dataset: a split, a range of its rows, or the shard of one pod."
)
@click.argument("dataset", type=click.Path(path_type=Path), metavar="DIR|FILE")
@click.argument("output", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--slice",
    "wanted",
    required=True,
    metavar="PARTS",
    help="As in split=train,rows=0:1000 or shard=2/8; shard=auto/8 takes JOB_COMPLETION_INDEX.",
)
def _slice(dataset: Path, output: Path, wanted: str) -> None:
    _check_libraries()
    from .row_slice import parse_slice
    from .slices import write_slice

    written = write_slice(dataset, output, parse_slice(wanted, os.environ))
    click.echo(", ".join(f"{name} {rows:,} rows" for name, rows in written.items()) + f" in {output}")
