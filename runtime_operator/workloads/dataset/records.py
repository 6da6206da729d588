"""What reading yields: rows, and the reasons why one could not be read, each with its place.

Reading never raises for bad data. A fault without a value is a row that cannot be used; a fault with one is
a remark about it.
"""

from __future__ import annotations

from reprlib import Repr
from typing import Any, NamedTuple

SHOWN = 60
_SHORT = Repr()  # writes out no more of a long list than is shown
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = SHOWN


class Fault(NamedTuple):
    """A broken rule, and what is wrong in words that follow the row's place."""

    rule: str
    detail: str


class Record(NamedTuple):
    """One row of a file, counted from 1; `line` is where it begins, in formats that have lines."""

    row: int
    line: int | None
    value: dict[str, Any] | None
    faults: tuple[Fault, ...] = ()


def broken(row: int, line: int | None, rule: str, detail: str) -> Record:
    """A row that could not be read."""
    return Record(row, line, None, (Fault(rule, detail),))


def place(file: str, row: int, line: int | None) -> str:
    """Where a row stands, as people and editors count."""
    if row == 0:
        return file
    return f"{file}: row {row}" if line in (None, row) else f"{file}: row {row} (line {line})"


def shown(value: object) -> str:
    """A value as it is told: short, and without anything that a terminal would obey."""
    text = repr(value[: 2 * SHOWN]) if isinstance(value, str) else _SHORT.repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"
