"""A workload's command line, made from its settings: one flag a field, one sentence an error.

The values of flags go to pydantic as text, so a flag and a line of the file obey the same rules and fail
with the same words. Under torchrun every process finds the same mistake; only the first of each machine
says it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

import click

from ..errors import KfpTrainerError
from .settings import SettingsType, parse_settings, read_document, written


def settings_command(
    name: str,
    kind: type[SettingsType],
    *,
    run: Callable[[SettingsType], object],
    help: str,
    explain: Callable[[SettingsType], str] | None = None,
) -> click.Command:
    """The command `name` that reads settings of `kind` from a file and flags and hands them to `run`.

    With `explain` it has a flag of that name, which says what `run` would do instead of doing it.
    """

    def callback(settings: Path | None, *, explained: bool = False, **flags: Any) -> None:
        document = read_document(settings) if settings else {}
        document.update({field: value for field, value in flags.items() if value is not None})
        parsed = parse_settings(kind, document)
        if not explain or not explained:
            run(parsed)
        elif os.environ.get("RANK", "0") == "0":
            click.echo(explain(parsed))

    file = click.Option(
        ["--settings"],
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A YAML or JSON file with settings; flags override it.",
    )
    about = click.Option(
        ["--explain", "explained"], is_flag=True, help="Say what would be done, and do nothing."
    )
    first = [file, about] if explain else [file]
    return click.Command(name, params=[*first, *_options(kind)], callback=callback, help=help)


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
        unset = field.is_required() or field.default in (None, (), {})
        default = "" if unset else f"  [default: {as_flag(field.default)}]"
        help = f"{_sentence(field.description or '', field.annotation)}.{default}"
        metavar = _metavar(field.annotation)
        options.append(click.Option([f"--{name.replace('_', '-')}"], metavar=metavar, help=help))
    return options


def _sentence(text: str, annotation: Any) -> str:
    """With a capital, unless it begins with a word that is given as a value."""
    first = re.split(r"\W", text, maxsplit=1)[0]
    return text if first in _values(annotation) else f"{text[:1].upper()}{text[1:]}"


def _values(annotation: Any) -> set[str]:
    """The words that a setting takes, at any depth of its type."""
    inner = get_args(annotation)
    if get_origin(annotation) is Literal:
        return set(inner)
    return {word for each in inner for word in _values(each)}


def as_flag(value: Any) -> str:
    """A default as one would give it."""
    return f"{value:g}" if isinstance(value, float) else written(value)


def _metavar(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    if isinstance(annotation, UnionType):
        return _metavar(get_args(annotation)[0])
    return {bool: "true|false", int: "N", float: "X", Path: "PATH"}.get(annotation, "NAMES")


def _module_name() -> str:
    spec = sys.modules["__main__"].__spec__
    return spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).name


def _speaks() -> bool:
    return os.environ.get("LOCAL_RANK", "0") == "0"
