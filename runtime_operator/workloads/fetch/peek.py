"""A first look at a dataset where it lies: the beginning of one file of each split, and nothing else.

Formats that keep their index at the end are taken whole, the smallest file of the split, if it is not large.
What is taken lies in a folder of the caller's, under the names it has at the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ...errors import SpecError
from ..dataset.formats.sniffing import Format, format_of
from .connections import Limits
from .hidden import Secrets
from .names import check_name
from .pace import Pace, patiently
from .schemes import check_scheme, open_source
from .selection import Selection
from .slicing import split_named
from .source import Entry, Request, Source
from .uri import parse_uri

HEAD = 1 << 20
"""bytes of a file that is read from its beginning"""
WHOLE = 64 << 20
"""bytes that a file may have which is read from its end"""
_PIECE = 1 << 16
_INDEXED = (Format.PARQUET, Format.ARROW)


@dataclass(frozen=True, slots=True)
class Peeked:
    """What there is, and which files were looked into."""

    source: str
    revision: str
    files: int
    bytes: int
    taken: tuple[str, ...]


def peek(address: str, folder: Path, *, secrets: Secrets, pace: Pace) -> Peeked:
    """Take the beginnings of a dataset into a folder."""
    uri = parse_uri(address, secrets)
    check_scheme(uri.scheme)
    limits = Limits(stall=pace.patience.stall)
    request = Request(uri, "dataset", Selection("dataset"), secrets, folder / ".scratch", limits)
    source = open_source(request)
    try:
        listing = patiently(source.resolve, renew=source.renew, pace=pace, name=uri.text)
        plain = [entry for entry in listing.entries if entry.unpack is None and entry.what == "file"]
        chosen = list(_chosen(plain))
        if not chosen:
            raise SpecError(
                f"{uri.text}: shows no rows before it is fetched, fetch it and look at the folder"
            )
        for entry in chosen:
            check_name(entry.path, entry.what, source=uri.text)
            patiently(lambda: _take(source, entry, folder), renew=source.renew, pace=pace, name=uri.text)  # noqa: B023 - called at once
    finally:
        source.close()
    size = sum(entry.size or 0 for entry in plain)
    return Peeked(uri.text, listing.revision, len(plain), size, tuple(entry.path for entry in chosen))


def _chosen(entries: Sequence[Entry]) -> Iterator[Entry]:
    """One file of each split, or of all where no name speaks of a split."""
    splits: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.path):
        if format_of(Path(entry.path)) is not None:
            splits.setdefault(split_named(entry.path) or "", []).append(entry)
    if "train" in splits:
        splits.pop("", None)
    for files in splits.values():
        first = files[0]
        if format_of(Path(first.path)) in _INDEXED:
            first = min(files, key=lambda entry: entry.size or 0)
            if (first.size or 0) > WHOLE:
                continue
        yield first


def _take(source: Source, entry: Entry, folder: Path) -> None:
    """Copy what is needed of a file."""
    most = WHOLE if format_of(Path(entry.path)) in _INDEXED else HEAD
    stop = entry.size if not entry.seekable or entry.size is None else min(entry.size, most)
    file = folder / entry.path
    file.parent.mkdir(parents=True, exist_ok=True)
    buffer, left = memoryview(bytearray(_PIECE)), most
    with file.open("wb") as out, closing(source.open(entry, 0, stop)) as reader:
        while left and (count := reader.readinto(buffer[:left])):
            out.write(buffer[:count])
            left -= count
