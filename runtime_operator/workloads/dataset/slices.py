"""A part of a dataset: one split, a range of its rows, or the shard of one pod.

Runs on files that have arrived; `row_slice.py` says what a slice means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from ...errors import SpecError
from ..files import new_folder
from .files import find_files
from .formats import read_records
from .records import place
from .row_slice import RowSlice


def slice_rows(dataset: Path, wanted: RowSlice) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of the slice with their split; SpecError for one that cannot be read."""
    found = find_files(dataset)
    if wanted.split and wanted.split not in found.splits:
        held = ", ".join(found.splits) or "none that can be read"
        raise SpecError(f"slice: {dataset} has no split {wanted.split}, it has {held}")
    chosen = [wanted.split] if wanted.split else list(found.splits)
    for split in chosen:
        numbers = wanted.numbers()
        for row in islice(_rows(found.splits[split]), numbers.start, numbers.stop, numbers.step):
            yield split, row


def write_slice(dataset: Path, output: Path, wanted: RowSlice) -> dict[str, int]:
    """Write the rows of the slice as JSON lines, one file a split, complete or not at all."""
    written: dict[str, int] = {}
    with new_folder(output) as part, ExitStack() as stack:
        files: dict[str, Any] = {}
        for split, row in slice_rows(dataset, wanted):
            if split not in files:
                files[split] = stack.enter_context((part / f"{split}.jsonl").open("wb", buffering=1 << 20))
            files[split].write(_line(row))
            written[split] = written.get(split, 0) + 1
        if not written:
            raise SpecError(f"slice: {dataset} has no row in {wanted}, ask for earlier rows or another shard")
    return written


def _rows(sources: Any) -> Iterator[dict[str, Any]]:
    for source in sources:
        for record in read_records(source):
            if record.value is None:
                fault = record.faults[0]
                raise SpecError(f"{place(source.name, record.row, record.line)}: {fault.detail}")
            yield record.value


def _line(row: dict[str, Any]) -> bytes:
    """The row as a line; what the fast writer cannot hold (half a character) is written as it was."""
    try:
        return orjson.dumps(row, default=str) + b"\n"
    except TypeError:
        return json.dumps(row, default=str).encode() + b"\n"
