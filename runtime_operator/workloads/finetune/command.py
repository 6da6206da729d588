"""The command `finetune`: settings in, one line of what came of it out."""

from __future__ import annotations

import os

import click

from ..command import settings_command
from .launching import torchrun_command
from .machine import read_machine
from .run import explain_run, finetune
from .settings import FinetuneSettings

HELP = """Fine-tune a causal language model on your own rows.

    \b
    finetune --model base --dataset rows.jsonl --output run --explain
    finetune --model base --dataset rows.jsonl --output run

    A model and rows are enough; --explain says what would be chosen and the memory it needs. The results are
    run/adapter, run/merged and run/training_report.html. A run that died or was stopped goes on where it was
    when the same command is given again.
"""


def finetune_command() -> click.Command:
    """The command, for a container's command line and for the project's own."""
    return settings_command("finetune", FinetuneSettings, run=_run, help=HELP, explain=explain_run)


def _run(settings: FinetuneSettings) -> None:
    if command := torchrun_command(settings, read_machine(), os.environ):
        os.execv(command[0], command)
    result = finetune(settings)
    if os.environ.get("RANK", "0") == "0":
        click.echo(
            f"the loss went from {result.first_loss:.4f} to {result.last_loss:.4f} in {result.steps} steps; "
            f"model: {result.model}, report: {result.report}"
        )
