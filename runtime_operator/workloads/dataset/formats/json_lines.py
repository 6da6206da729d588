"""JSON lines: one object a line; blank lines do not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ..records import Fault, Record, broken, shown
from .json_values import parse, twice_named
from .opened import DAMAGE, MOST_BYTES, damage, lines

CHECKED = 500
WIDE = (b"\xff\xfe", b"\xfe\xff")  # UTF-16 begins so


def read_json_lines(stream: BinaryIO) -> Iterator[Record]:
    """Each row, as it comes."""
    row = 0
    try:
        for number, line in lines(stream):
            if line is None:
                row += 1
                yield broken(row, number, "row-too-large", f"is longer than {MOST_BYTES >> 20} MiB")
                continue
            if number == 1 and _is_wide(line):
                yield broken(1, 1, "not-utf8", "is UTF-16 text")
                return
            text = line.strip()
            if not text:
                continue
            row += 1
            if row == 1 and text.startswith(b"[") and text.count(b"]") < text.count(b"["):
                yield broken(1, 1, "not-json", "is one JSON array over many lines, call the file .json")
                return
            yield record(row, number, text)
    except DAMAGE as error:
        yield broken(row + 1, None, "damaged-file", damage(error))


def _is_wide(line: bytes) -> bool:
    """Whether every other byte of most of the line is nought, as in ASCII written as UTF-16."""
    even, odd = (line[at : 2 * CHECKED : 2].count(0) for at in (0, 1))
    return line.startswith(WIDE) or max(even, odd) > min(len(line), 2 * CHECKED) // 4 > min(even, odd)


def record(row: int, line: int | None, raw: bytes) -> Record:
    """The row that stands in `raw`."""
    value, fault = parse(raw)
    faults: tuple[Fault, ...] = (fault,) if fault else ()
    if value is None and fault:
        return Record(row, line, None, faults)
    if not isinstance(value, dict):
        return broken(row, line, "not-an-object", f"is {kind(value)} ({shown(value)})")
    if twice := twice_named(raw, value):
        return Record(row, line, None, (*faults, twice))
    return Record(row, line, value, faults)


def kind(value: object) -> str:
    """A value's type in JSON's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
