"""The command `export`: a model's folder in, one line on where it is out."""

from __future__ import annotations

import click

from ..command import settings_command
from .run import export
from .settings import ExportSettings

HELP = """Bring a model to where it lasts, and prove that it arrived.

    export --model run/merged --to s3://bucket/model
"""


def export_command() -> click.Command:
    """The command, for a container's command line."""
    return settings_command("export", ExportSettings, run=_run, help=HELP)


def _run(settings: ExportSettings) -> None:
    done = export(settings)
    click.echo(f"{done.location}: {done.files} files, {done.bytes:,} bytes, {done.sent} sent, {done.digest}")
