"""CSV and TSV: a header, then rows with as many fields as it has.

Bytes that are not UTF-8 are carried as marks into the row they stand in, so that the row can be named.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from ..records import Fault, Record, broken, shown
from .opened import DAMAGE, MOST_BYTES, damage

SEPARATORS = ",;\t|"
_BYTE = "\udc00", "\udcff"  # how Python carries a byte that is not UTF-8


def read_delimited(stream: BinaryIO, separator: str) -> Iterator[Record]:
    """Each row behind the header."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    csv.field_size_limit(MOST_BYTES)
    row, begins = 0, 1
    try:
        first = text.readline(MOST_BYTES)
        if first.startswith(("\udcff\udcfe", "\udcfe\udcff")):
            yield broken(1, 1, "not-utf8", "is UTF-16 text")
            return
        separator = _separator(first, separator)
        reader = csv.reader(chain([first], text), delimiter=separator, strict=True)
        header = next(reader, [])
        if fault := _header_fault(header):
            yield Record(0, 1, None, (fault,))
            return
        while True:
            begins = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                row += 1
                yield broken(row, begins, "damaged-file", f"is not CSV, {_why(error)}")
                if "end of data" in str(error):
                    return
                continue
            if not fields:
                continue
            row += 1
            yield _record(row, begins, header, fields)
    except csv.Error as error:  # in the header; in a row it is told above
        yield broken(0, 1, "bad-header", f"its header is not CSV, {_why(error)}")
    except DAMAGE as error:
        yield broken(row + 1, None, "damaged-file", damage(error))
    finally:
        text.detach()  # the stream is its opener's to close


def _record(row: int, line: int, header: list[str], fields: list[str]) -> Record:
    if len(fields) != len(header):
        return broken(
            row, line, "ragged-row", f"has {len(fields)} fields, the header {len(header)} ({shown(fields)})"
        )
    for name, field in zip(header, fields, strict=True):
        if any(_BYTE[0] <= char <= _BYTE[1] for char in field if char > "\ud7ff"):
            return broken(row, line, "not-utf8", f"is not UTF-8 in {name}")
    return Record(row, line, dict(zip(header, fields, strict=True)))


def _header_fault(header: list[str]) -> Fault | None:
    if not header:
        return Fault("empty-file", "has no header")
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None and twice.strip():
        return Fault("bad-header", f"its header names {twice!r} twice")
    if all(not name.strip() for name in header):
        return Fault("bad-header", "its header is empty")
    return None


def _separator(header: str, expected: str) -> str:
    """The expected separator, or the one that the header is full of where that is absent."""
    if expected in header:
        return expected
    best = max(SEPARATORS, key=header.count)
    return best if best in header else expected


def _why(error: csv.Error) -> str:
    if "end of data" in str(error):
        return "a quote that begins here is never closed"
    return " ".join(str(error).split()).replace("'", "")
