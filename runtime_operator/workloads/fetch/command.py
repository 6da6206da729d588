"""The command `fetch dataset|model`: an address from the command line or from Trainer's environment.

    fetch model hf://org/name DIR           on a person's machine
    fetch dataset                           in an initializer: STORAGE_URI, to /workspace/dataset

The environment is that of Trainer's initializers, unchanged: STORAGE_URI, ACCESS_TOKEN, IGNORE_PATTERNS,
ENDPOINT, REGION, ACCESS_KEY_ID, SECRET_ACCESS_KEY, ROLE_ARN; an empty value is none. Ours beside them:
INCLUDE_PATTERNS, ALLOW_PICKLES, SLICE. A flag overrides its variable.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click

from ...errors import SpecError
from ..dataset.row_slice import RowSlice, parse_slice
from .command_line import hide_argument
from .engine import fetch
from .hidden import Secrets, shown
from .order import Order, usual_connections
from .pace import Pace, Patience
from .reports import reports_for
from .selection import Selection, parse_patterns
from .source import Kind

TARGETS: dict[Kind, str] = {"dataset": "/workspace/dataset", "model": "/workspace/model"}
_YES = ("1", "true", "yes", "on")
_NO = ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says; None and empty where it says nothing."""

    uri: str | None = None
    target: Path | None = None
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    slice: str | None = None
    pickles: bool = False
    every_byte: bool = False
    connections: int | None = None


def order_from(kind: Kind, flags: Flags, environ: Mapping[str, str]) -> Order:
    """What is to be fetched, from flags and environment."""
    uri = flags.uri or environ.get("STORAGE_URI", "").strip()
    if not uri:
        raise SpecError(f"fetch {kind}: no address, give one or set STORAGE_URI, as in hf://org/name")
    given = parse_patterns(environ.get("IGNORE_PATTERNS"))
    ignore = flags.ignore or (given if given else None)
    selection = Selection(
        kind,
        include=flags.include or parse_patterns(environ.get("INCLUDE_PATTERNS")),
        ignore=ignore,
        pickles=flags.pickles or _is_yes("ALLOW_PICKLES", environ),
        rows=_rows(kind, flags.slice or environ.get("SLICE", "").strip(), environ),
    )
    target = flags.target or Path(TARGETS[kind])
    connections = flags.connections or usual_connections()
    return Order(kind, uri, target, selection, connections, flags.every_byte)


def fetch_command() -> click.Group:
    """The command, for a container's command line and for the project's own."""
    group = click.Group("fetch", help="Fetch a dataset or a model: whole, verified, pinned, and once.")
    for kind in TARGETS:
        group.add_command(_command(kind))
    return group


def _command(kind: Kind) -> click.Command:
    def callback(**given: Any) -> None:
        _run(kind, Flags(**given))

    return click.Command(
        kind,
        params=[
            click.Argument(["uri"], required=False),
            click.Argument(["target"], required=False, type=click.Path(path_type=Path), metavar="[DIR]"),
            *_options(kind),
        ],
        callback=callback,
        help=_help(kind),
    )


def _options(kind: Kind) -> list[click.Parameter]:
    pickles = click.Option(
        ["--pickles"], is_flag=True, help="Take weights that are pickles, which run code when loaded."
    )
    rows = click.Option(
        ["--slice"],
        metavar="PARTS",
        help="Keep these rows, as in split=train,rows=0:1000 or shard=2/8; shard=auto/8 is this pod's.",
    )
    return [
        _patterns("--include", "Fetch only what matches; may be repeated."),
        _patterns("--ignore", "Leave out what matches; takes the place of the default."),
        pickles if kind == "model" else rows,
        click.Option(
            ["--verify", "every_byte"],
            is_flag=True,
            help="Hash what is there already, instead of trusting its times.",
        ),
        click.Option(
            ["--connections"],
            type=click.IntRange(1, 64),
            help="How many requests at once.  [default: two a processor, 8 to 16]",
        ),
    ]


def _patterns(name: str, help: str) -> click.Option:
    return click.Option([name], multiple=True, metavar="PATTERN", help=help)


def _help(kind: Kind) -> str:
    return f"""Fetch a {kind} from URI into DIR.

    Without URI it is STORAGE_URI, without DIR it is {TARGETS[kind]}. Addresses: hf:// s3:// gs:// az:// https://
    file:/// pvc:// oci:// git+https:// package://
    """


def _run(kind: Kind, flags: Flags) -> None:
    order = order_from(kind, flags, os.environ)
    if flags.uri and flags.uri != shown(flags.uri):
        hide_argument(flags.uri)
    pace = Pace(Patience())
    with _ends_cleanly(pace):
        fetch(
            order,
            secrets=Secrets(os.environ),
            report=reports_for(os.environ, sys.stdout, sys.stderr),
            pace=pace,
        )


class _ends_cleanly:
    """Let SIGTERM and Ctrl-C end the fetch: threads stop, the lease is given back, the work stays."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._end)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._pace.end()
        click.echo("interrupted; what was fetched is kept, the next run goes on from there", err=True)
        raise SystemExit(128 + number)


def _rows(kind: Kind, words: str, environ: Mapping[str, str]) -> RowSlice | None:
    if words and kind == "model":
        raise SpecError(f"SLICE: a model has no rows, got {words!r}, take the variable away")
    return parse_slice(words, environ) if words else None


def _is_yes(name: str, environ: Mapping[str, str]) -> bool:
    value = environ.get(name, "").strip().lower()
    if value in _YES or value in _NO:
        return value in _YES
    raise SpecError(f"{name}: must be true or false, got {value!r}")
