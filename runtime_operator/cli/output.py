"""Data on stdout, for a person or for a program: `-o yaml` or `-o json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import click
import yaml

Output = Literal["yaml", "json"]

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="How to print data.",
)


def print_data(data: Mapping[str, Any] | Sequence[Mapping[str, Any]], output: Output) -> None:
    """Print a document, or several: as a YAML stream, or as one JSON value."""
    if output == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    documents = [data] if isinstance(data, Mapping) else list(data)
    click.echo("---\n".join(map(write_yaml, documents)), nl=False)


def write_yaml(document: Mapping[str, Any]) -> str:
    """Write one document as a person would."""
    text: str = yaml.dump(document, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)
    return text


class PlainDumper(yaml.CSafeDumper):
    """Writes out what is shared between objects: an anchor is noise to the reader of a manifest."""

    def ignore_aliases(self, data: object) -> bool:
        """Write every object in full."""
        return True


def _text(dumper: PlainDumper, text: str) -> yaml.ScalarNode:
    """A text of several lines keeps its lines, as a person would write it."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


PlainDumper.add_representer(str, _text)
