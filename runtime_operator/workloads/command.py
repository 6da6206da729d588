"""A workload's command line, made from its settings: one flag a field, one sentence an error.

The values of flags go to pydantic as text, so a flag and a line of the file obey the same rules and fail
with the same words. Under torchrun every process finds the same mistake; only the first of each machine
says it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import click

from ..errors import KfpTrainerError
from .settings import SettingsType, parse_settings, read_document


def settings_command(
    name: str, kind: type[SettingsType], *, run: Callable[[SettingsType], object], help: str
) -> click.Command:
    """The command `name` that reads settings of `kind` from a file and flags and hands them to `run`."""

    def callback(settings: Path | None, **flags: Any) -> None:
        document = read_document(settings) if settings else {}
        document.update({field: value for field, value in flags.items() if value is not None})
        run(parse_settings(kind, document))

    file = click.Option(
        ["--settings"],
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A YAML or JSON file with settings; flags override it.",
    )
    return click.Command(name, params=[file, *_options(kind)], callback=callback, help=help)


def main(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run `command` and turn an error of ours into a sentence and an exit code."""
    try:
        command.main(args=arguments, prog_name=f"python -m {_module_name()}", standalone_mode=False)
    except click.ClickException as error:
        if _speaks():
            error.show()
        return error.exit_code
    except KfpTrainerError as error:
        if _speaks():
            click.echo(f"error: {error}", err=True)
        return error.exit_code
    return 0


def _options(kind: type[SettingsType]) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    for name, field in kind.model_fields.items():
        default = "" if field.is_required() or field.default is None else f"  [default: {field.default}]"
        help = f"{(field.description or '')[:1].upper()}{(field.description or '')[1:]}.{default}"
        metavar = _metavar(field.annotation)
        options.append(click.Option([f"--{name.replace('_', '-')}"], metavar=metavar, help=help))
    return options


def _metavar(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    if isinstance(annotation, UnionType):
        return _metavar(get_args(annotation)[0])
    return {int: "N", float: "X", Path: "PATH"}.get(annotation, "NAMES")


def _module_name() -> str:
    spec = sys.modules["__main__"].__spec__
    return spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).name


def _speaks() -> bool:
    return os.environ.get("LOCAL_RANK", "0") == "0"
