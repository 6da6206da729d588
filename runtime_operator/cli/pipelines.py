"""Commands on pipelines: list, compile, run here, upload, submit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import yaml

from ..errors import SpecError
from ..images import VERSION
from ..settings import read_settings

WORKSPACE = (
    click.option(
        "--workspace", "size", metavar="SIZE", help="The size of a run's workspace.  [default: 50Gi]"
    ),
    click.option("--storage-class", metavar="NAME", help="The storage class of that claim."),
    click.option(
        "--access-mode",
        type=click.Choice(["ReadWriteMany", "ReadWriteOnce"]),
        help="Whether pods of several nodes write to it.  [default: ReadWriteMany]",
    ),
)


def with_workspace(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run's workspace."""
    for option in reversed(WORKSPACE):
        command = option(command)
    return command


@click.group()
def pipelines() -> None:
    """List, compile, run, upload and submit the pipelines of this project."""


@pipelines.command("list")
def list_pipelines() -> None:
    """List the pipelines and what each does."""
    from kfp_trainer.pipelines.catalogue import PIPELINES

    for name, what in PIPELINES.items():
        click.echo(f"{name:20} {what}")


@pipelines.command("compile")
@click.argument("name")
@click.option(
    "--to", "target", type=click.Path(path_type=Path), help="The file to write.  [default: NAME.yaml]"
)
@with_workspace
def compile_pipeline(
    name: str, target: Path | None, size: str | None, storage_class: str | None, access_mode: str | None
) -> None:
    """Write the YAML of pipeline NAME, for upload in the Pipelines UI."""
    from kfp_trainer.pipelines.compiling import Workspace
    from kfp_trainer.pipelines.compiling import compile_pipeline as write_document

    target = target or Path(f"{name}.yaml")
    write_document(name, target, Workspace(size or "", storage_class or "", access_mode or ""))
    click.echo(f"wrote {target}")


@pipelines.command("run")
@click.argument("name")
@click.option("--local", is_flag=True, required=True, help="Run each step as a process here.")
@click.option("--component", is_flag=True, help="NAME is that of a component, which runs alone.")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; the value is YAML.")
def run_pipeline(name: str, local: bool, component: bool, parameters: Sequence[str]) -> None:
    """Run pipeline NAME and print where its results are."""
    from kfp_trainer.pipelines.catalogue import load_component, load_pipeline
    from kfp_trainer.pipelines.local_run import run_local

    pipeline = (load_component if component else load_pipeline)(name)
    arguments = parse_parameters(parameters, known=set(pipeline.component_spec.inputs or ()))
    folder = read_settings().runs / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    run = run_local(pipeline, arguments, folder)
    for output, value in run.outputs.items():
        click.echo(f"{output}: {getattr(value, 'path', value)}")
    for report in run.reports:
        click.echo(f"report: {report}")
    click.echo(f"workspace, artifacts and log: {run.folder}")


SERVER = (
    click.option("--host", envvar="KF_PIPELINES_ENDPOINT", help="Where Kubeflow Pipelines answers."),
    click.option("-n", "--namespace", help="The profile's namespace, where there are several."),
)


def on_server(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say which server."""
    for option in reversed(SERVER):
        command = option(command)
    return command


@pipelines.command("upload")
@click.argument("name")
@click.option("--as", "shown", help="Its name in the Pipelines UI.  [default: the pipeline's own]")
@click.option("--version", default=VERSION, show_default=True, help="The name of this version.")
@on_server
def upload_pipeline(
    name: str, shown: str | None, version: str, host: str | None, namespace: str | None
) -> None:
    """Upload pipeline NAME, or a compiled FILE.yaml, for people to start in the Pipelines UI.

    A pipeline that is there gets a new version; a version that is there is left as it is. The variable
    KFP_TOKEN holds a token, where the server asks for one.
    """
    from kfp_trainer.pipelines.remote import Server, document_of, pipeline_name, upload

    with document_of(name) as document:
        done = upload(
            Server(host, namespace), document, name=shown or pipeline_name(document), version=version
        )
    click.echo(f"{done.name} {done.version}: pipeline {done.pipeline_id}, version {done.version_id}")


@pipelines.command("submit")
@click.argument("name")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; the value is YAML.")
@click.option("--experiment", default="kfp-trainer", show_default=True, help="The experiment of the run.")
@click.option("--run", help="The name of the run.  [default: NAME and the time]")
@click.option("--wait", is_flag=True, help="Wait for the end; exit 1 if it is a bad one.")
@click.option("--timeout", default=7 * 86400.0, help="Seconds to wait.  [default: a week]")
@on_server
def submit_pipeline(
    name: str,
    parameters: Sequence[str],
    experiment: str,
    run: str | None,
    wait: bool,
    timeout: float,
    host: str | None,
    namespace: str | None,
) -> None:
    """Start a run of pipeline NAME, or of a compiled FILE.yaml, on a server.

    The variable KFP_TOKEN holds a token, where the server asks for one.
    """
    from kfp_trainer.pipelines import remote

    server = remote.Server(host, namespace)
    with remote.document_of(name) as document:
        own = remote.pipeline_name(document)
        arguments = parse_parameters(parameters, known=remote.parameters_of(document))
        named = run or f"{own} {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        taken = remote.submit(server, document, arguments, experiment=experiment, run=named)
    click.echo(f"{taken.name}: {taken.url}")
    if wait:
        remote.wait(server, taken.run_id, timeout=timeout)
        click.echo(f"{taken.name}: succeeded")


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
