"""The command `gate`: a sentence a rule, and an exit code that a script or a pipeline goes by."""

from __future__ import annotations

import click

from ...errors import JobFailed
from ..command import settings_command
from .run import judge
from .settings import GateSettings

HELP = """Let a tuned model pass or stop it, by rules on its evaluation.

    gate --evaluation evaluation --rules "exact_match >= base + 0.02; perplexity <= 1.05 * base"

It says a sentence a rule and ends with 0 where all hold, with 1 where one is broken or not sure, and with 2
where the rules or the evaluation cannot be judged.
"""


def gate_command() -> click.Command:
    """The command, for a container's command line and for the project's own."""
    return settings_command("gate", GateSettings, run=_run, help=HELP)


def _run(settings: GateSettings) -> None:
    result = judge(settings)
    for each in result.judgements:
        click.echo(each.sentence)
    if not result.passed:
        broken = [each.rule for each in result.judgements if not each.holds]
        raise JobFailed(f"the model does not pass: {'; '.join(broken)}")
