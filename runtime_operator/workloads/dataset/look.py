"""A first look at a dataset: its files, its shape, its first rows, read no further than that.

A dataset that has not been fetched is shown by the beginning of a file of each split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import KfpTrainerError, SpecError
from .files import find_files
from .formats import Source, read_records
from .formats.json_lines import kind
from .records import Record, place, shown
from .shapes import find_shape

LOOKED_AT = 32


def look(dataset: Path, *, rows: int = 3) -> Iterator[str]:
    """The lines that show what is in a dataset."""
    found = find_files(dataset)
    for name, fault in found.refused:
        yield f"{name}: {fault.detail}"
    for split, sources in found.splits.items():
        size = sum(source.path.stat().st_size for source in sources)
        formats = ", ".join(sorted({source.format.value for source in sources}))
        yield f"{split}: {len(sources)} files, {size:,} bytes, {formats}"
        yield from _rows_shown(sources, rows)


def look_from_afar(address: str, environ: Mapping[str, str], *, rows: int = 3) -> Iterator[str]:
    """The lines that show what is in a dataset that has not been fetched."""
    from ..fetch.engine import cleaned
    from ..fetch.hidden import Secrets
    from ..fetch.pace import Pace, Patience
    from ..fetch.peek import peek

    secrets = Secrets(environ)
    with TemporaryDirectory() as folder:
        try:
            found = peek(address, Path(folder), secrets=secrets, pace=Pace(Patience()))
        except KfpTrainerError as error:
            raise cleaned(error, secrets) from None
        yield f"{found.source}: {found.files} files, {found.bytes:,} bytes, revision {found.revision}"
        for split, sources in find_files(Path(folder)).splits.items():
            yield f"{split}: the beginning of {', '.join(source.name for source in sources)}"
            yield from _rows_shown(sources, rows)


def _records(sources: list[Source]) -> Iterator[tuple[Source, Record]]:
    for source in sources:
        for record in read_records(source):
            yield source, record


def _rows_shown(sources: list[Source], rows: int) -> Iterator[str]:
    records = list(islice(_records(sources), max(rows, LOOKED_AT)))
    yield from _shape_lines(records)
    for source, record in records[:rows]:
        yield from _row_lines(source, record)


def _shape_lines(records: list[tuple[Source, Record]]) -> Iterator[str]:
    values = [record.value for _, record in records if record.value]
    if not values:
        yield "  no row of the first ones can be read"
        return
    try:
        mapped = find_shape(values)
    except SpecError as error:
        yield f"  shape: unknown, {error}"
    else:
        yield f"  shape: {mapped.shape} ({mapped})"


def _row_lines(source: Source, record: Record) -> Iterator[str]:
    yield f"  {place(source.name, record.row, record.line)}"
    for fault in record.faults:
        yield f"    {fault.detail}"
    for name, value in (record.value or {}).items():
        yield f"    {name}: {shown(value)} ({kind(value)})"
