"""A dataset of which only some rows are wanted: less is fetched, and less is kept.

Files that name another split stay at the source. The others arrive and are verified as always; then the
wanted rows are written beside them as JSON lines, one file a split, and those become the folder. What the
words of a slice mean is said by `dataset/row_slice.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from ...errors import SetupError, SpecError
from ..dataset.row_slice import RowSlice, parse_slice
from ..dataset.split_names import split_of
from .hashing import hash_file
from .manifest import FileFact, Manifest, total_of
from .source import Entry
from .troubles import FetchError

_LIBRARIES = ("orjson", "pyarrow")
_SAVED = ("dataset_dict.json", "state.json")
"""files at the root of what `save_to_disk` made, which lists its own files"""


def check_libraries() -> None:
    """Refuse before the first byte what could not be cut at the end."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"slice: rows are read by {' and '.join(missing)}, not here; pip install 'kfp-trainer[local]'"
        )


def of_the_split(entries: Sequence[Entry], wanted: RowSlice, *, source: str) -> list[Entry]:
    """Without the files of other splits; FetchError where the files' names know no such split."""
    if wanted.split is None or any(entry.path in _SAVED for entry in entries):
        return list(entries)
    named = {entry.path: split_named(entry.path) for entry in entries}
    held = sorted({split for split in named.values() if split})
    if held and wanted.split not in held:
        raise FetchError(f"{source}: has no split {wanted.split}, its files name {', '.join(held)}")
    return [entry for entry in entries if named[entry.path] in (None, wanted.split)]


def check_shard(target: Path, old: Manifest | None, source: str, wanted: RowSlice) -> None:
    """Refuse to replace the shard of one pod by that of another: they would take turns in one folder."""
    words = old.selection.get("slice") if old is not None and old.source == source else None
    if not isinstance(words, str):
        return
    held = parse_slice(words, {})
    if held != wanted and replace(held, shard=wanted.shard) == wanted:
        raise SpecError(
            f"{target}: holds shard {held.shard}/{held.shards} of the same rows, "
            f"give shard {wanted.shard} a folder of its own"
        )


def cut_rows(tree: Path, output: Path, whole: Manifest, wanted: RowSlice) -> Manifest:
    """Write the wanted rows of a tree to another folder; the manifest of what is there now."""
    from ..dataset.slices import write_slice

    try:
        write_slice(tree, output, wanted)
    except SpecError as error:  # it speaks of a folder that nobody knows
        raise SpecError(str(error).replace(os.fspath(tree), whole.source)) from None
    files = tuple(_fact(output, path.name, whole.listing) for path in sorted(output.iterdir()))
    digest, size = total_of(files)
    return replace(whole, files=files, digest=digest, bytes=size)


def split_named(path: str) -> str | None:
    """The split that the name of a file with rows speaks of."""
    from ..dataset.formats.sniffing import is_data

    return split_of(str(PurePosixPath(path).with_suffix(""))) if is_data(Path(path)) else None


def _fact(folder: Path, name: str, listing: str) -> FileFact:
    found = os.stat(folder / name)
    key = hashlib.sha256(f"slice\0{listing}\0{name}".encode()).hexdigest()[:32]
    return FileFact(name, found.st_size, hash_file(folder / name), found.st_mtime_ns, key)
