"""From a source to its records, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from ....errors import SpecError
from ..records import Record
from .columnar import read_arrow, read_parquet
from .delimited import read_delimited
from .json_document import read_json
from .json_lines import read_json_lines
from .opened import open_stream
from .sniffing import Format, Source


def read_records(source: Source) -> Iterator[Record]:
    """The rows of a file in their order, read as they are asked for."""
    match source.format:
        case Format.PARQUET:
            yield from read_parquet(source.path)
            return
        case Format.ARROW:
            yield from read_arrow(source.path)
            return
    try:
        stream = open_stream(source.path, source.compression)
    except OSError as error:
        raise SpecError(f"{source.name}: cannot be read, {error.strerror or error}") from None
    with closing(stream):
        match source.format:
            case Format.JSON_LINES:
                yield from read_json_lines(stream)
            case Format.JSON:
                yield from read_json(stream)
            case Format.CSV:
                yield from read_delimited(stream, ",")
            case Format.TSV:
                yield from read_delimited(stream, "\t")
