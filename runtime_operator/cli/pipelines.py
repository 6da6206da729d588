"""Commands on pipelines: list, compile, run here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import yaml

from ..errors import SpecError
from ..settings import read_settings


@click.group()
def pipelines() -> None:
    """List, compile and run the pipelines of this project."""


@pipelines.command("list")
def list_pipelines() -> None:
    """List the pipelines and what each does."""
    from kfp_trainer.pipelines.catalogue import PIPELINES

    for name, (_, _, what) in PIPELINES.items():
        click.echo(f"{name:20} {what}")


@pipelines.command("compile")
@click.argument("name")
@click.option(
    "--to", "target", type=click.Path(path_type=Path), help="The file to write.  [default: NAME.yaml]"
)
def compile_pipeline(name: str, target: Path | None) -> None:
    """Write the YAML of pipeline NAME, for upload in the Pipelines UI."""
    from kfp import compiler

    from kfp_trainer.pipelines.catalogue import load_pipeline

    target = target or Path(f"{name}.yaml")
    compiler.Compiler().compile(load_pipeline(name), str(target))
    click.echo(f"wrote {target}")


@pipelines.command("run")
@click.argument("name")
@click.option("--local", is_flag=True, required=True, help="Run each step as a process here.")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; the value is YAML.")
def run_pipeline(name: str, local: bool, parameters: Sequence[str]) -> None:
    """Run pipeline NAME and print where its results are."""
    from kfp_trainer.pipelines.catalogue import load_pipeline
    from kfp_trainer.pipelines.local_run import run_local

    pipeline = load_pipeline(name)
    arguments = parse_parameters(parameters, known=set(pipeline.component_spec.inputs or ()))
    folder = read_settings().runs / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    run = run_local(pipeline, arguments, folder)
    for output, value in run.outputs.items():
        click.echo(f"{output}: {value}")
    click.echo(f"artifacts and log: {run.folder}")


def parse_parameters(given: Sequence[str], *, known: set[str]) -> dict[str, Any]:
    """Read `name=value` pairs; a name the pipeline does not have is refused."""
    arguments = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            raise SpecError(f"-p {pair}: must be NAME=VALUE with a name of {', '.join(sorted(known))}")
        try:
            arguments[name] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SpecError(f"-p {pair}: the value is not YAML: {' '.join(str(error).split())}") from error
    return arguments
