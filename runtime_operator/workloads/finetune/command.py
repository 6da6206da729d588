"""The command `finetune`: settings in, one line of what came of it out."""

from __future__ import annotations

import os

import click

from ..command import settings_command
from .run import finetune
from .settings import FinetuneSettings

HELP = """Fine-tune a causal language model on prompt and completion rows.

    finetune --model base --dataset data --output run --max-steps 200
"""


def finetune_command() -> click.Command:
    """The command, for a container's command line and for the project's own."""
    return settings_command("finetune", FinetuneSettings, run=_run, help=HELP)


def _run(settings: FinetuneSettings) -> None:
    result = finetune(settings)
    if os.environ.get("RANK", "0") == "0":
        click.echo(
            f"the loss went from {result.first_loss:.4f} to {result.last_loss:.4f} in {result.steps} steps; "
            f"report: {result.report}"
        )
