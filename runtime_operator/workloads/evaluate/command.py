"""The command `evaluate`: settings in, the headline numbers out."""

from __future__ import annotations

import click

from ..command import settings_command
from .run import evaluate
from .settings import EvaluateSettings

HELP = """Compare the greedy answers of a base and a tuned model on held-out rows.

    evaluate --model base --tuned run/merged --dataset data --output evaluation
"""


def evaluate_command() -> click.Command:
    """The command, for a container's command line and for the project's own."""
    return settings_command("evaluate", EvaluateSettings, run=_run, help=HELP)


def _run(settings: EvaluateSettings) -> None:
    evaluation = evaluate(settings)
    click.echo(f"report: {evaluation.report}")
    click.echo(evaluation.line)
