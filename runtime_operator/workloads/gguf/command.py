"""The command `gguf`: a file in, a model folder out."""

from __future__ import annotations

from pathlib import Path

import click

from .convert import PRECISIONS, convert_gguf

HELP = """Turn a GGUF file into a model folder that can be trained.

    python -m kfp_trainer.runtime_operator.workloads.gguf model.gguf model/
"""


def gguf_command() -> click.Command:
    """The command, for a container's command line."""
    path = click.Path(path_type=Path)
    return click.Command(
        "gguf",
        params=[
            click.Argument(["file"], type=path),
            click.Argument(["output"], type=path),
            click.Option(
                ["--precision"],
                type=click.Choice(PRECISIONS),
                default=PRECISIONS[0],
                help="How the weights are stored.",
                show_default=True,
            ),
        ],
        callback=_run,
        help=HELP,
    )


def _run(file: Path, output: Path, precision: str) -> None:
    facts = convert_gguf(file, output, precision=precision)
    click.echo(f"{facts.name}: {facts.parameters:,} weights, licence {facts.licence}, in {output}")
