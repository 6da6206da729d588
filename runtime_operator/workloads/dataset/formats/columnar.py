"""Parquet and Arrow, batch by batch. Neither holds code, and extension types are read as what they store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..records import Record, broken
from .opened import damage

BATCH = 512


def read_parquet(path: Path) -> Iterator[Record]:
    """Each row of a Parquet file."""
    import pyarrow
    import pyarrow.parquet as parquet

    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            if fault := _twice(file.schema_arrow.names):
                yield fault
                return
            for batch in file.iter_batches(batch_size=BATCH):
                yield from _rows(batch, row)
                row += batch.num_rows
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        yield broken(row + 1, None, "damaged-file", damage(error))


def read_arrow(path: Path) -> Iterator[Record]:
    """Each row of an Arrow file, whether a stream or a file with an index."""
    import pyarrow

    row = 0
    try:
        with pyarrow.OSFile(str(path)) as file:
            for batch in _batches(file):
                if fault := _twice(batch.schema.names):
                    yield fault
                    return
                for first in range(0, batch.num_rows, BATCH):
                    yield from _rows(batch.slice(first, BATCH), row)
                    row += min(BATCH, batch.num_rows - first)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        yield broken(row + 1, None, "damaged-file", damage(error))


def _batches(file: Any) -> Iterator[Any]:
    import pyarrow

    indexed = file.read(6) == b"ARROW1"
    file.seek(0)
    if not indexed:
        yield from pyarrow.ipc.open_stream(file)
        return
    reader = pyarrow.ipc.open_file(file)
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _rows(batch: Any, before: int) -> Iterator[Record]:
    """The rows of a batch that was found sound: the library does not look before it follows an offset."""
    import pyarrow

    try:
        batch.validate(full=True)
        values = batch.to_pylist()
    except (UnicodeDecodeError, pyarrow.ArrowInvalid) as error:
        if batch.num_rows == 1 and "utf" in str(error).lower():
            yield broken(before + 1, None, "not-utf8", "holds a value that is not UTF-8")
        elif "utf" in str(error).lower():
            for at in range(batch.num_rows):
                yield from _rows(batch.slice(at, 1), before + at)
        else:
            raise
        return
    for row, value in enumerate(values, before + 1):
        yield Record(row, None, value)


def _twice(names: list[str]) -> Record | None:
    twice = next((name for name in names if names.count(name) > 1), None)
    return broken(0, None, "bad-header", f"it has two columns called {twice!r}") if twice else None
