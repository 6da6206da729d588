"""MANIFEST.json: what a finished folder holds, from where, and at which revision.

It is written last, so a folder that has one is whole. `digest` is that of the tree: the SHA-256 of what
`sha256sum` prints for its files, sorted by path; two folders with the same digest hold the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .hashing import hash_file, tree_digest
from .names import MANIFEST
from .selection import Selection
from .source import Entry

FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileFact:
    """One file of a finished folder."""

    path: str
    size: int
    sha256: str
    mtime_ns: int
    key: str
    """what the source said the file is; the same key is the same contents"""
    promised: str = ""
    """the digest that the source gave, which was compared"""
    etag: str = ""

    def document(self) -> dict[str, Any]:
        """The fact as the manifest keeps it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of a finished folder."""

    source: str
    kind: str
    revision: str
    digest: str
    bytes: int
    listing: str
    """a digest of what the source listed; the same again means that there is nothing to fetch"""
    selection: dict[str, Any]
    started: str
    finished: str
    left_out: tuple[str, ...]
    files: tuple[FileFact, ...]

    def write(self, folder: Path) -> None:
        """Put the record into a folder, whole or not at all."""
        head: dict[str, Any] = {"format": FORMAT, "tool": "kfp-trainer"}
        head |= {each.name: getattr(self, each.name) for each in fields(self) if each.name != "files"}
        part = folder.parent / f"{MANIFEST}.part"  # beside it: in it every name may be a file's
        with part.open("w", encoding="utf-8") as file:
            file.write("{\n")
            file.writelines(f" {json.dumps(name)}: {_line(value)},\n" for name, value in head.items())
            file.write(' "files": [\n')
            file.write(",\n".join(f"  {_line(each.document())}" for each in self.files))
            file.write("\n ]\n}\n")
        os.replace(part, folder / MANIFEST)


def _line(value: object) -> str:
    """A value in one line; a hundred thousand files are written in a second."""
    return json.dumps(value, ensure_ascii=False)


def read_manifest(folder: Path) -> Manifest | None:
    """The record of a folder; None where it has none of ours."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.pop("tool", None) != "kfp-trainer":
        return None
    if document.pop("format", None) != FORMAT:
        return None
    try:
        document["files"] = tuple(FileFact(**file) for file in document["files"])
        document["left_out"] = tuple(document["left_out"])
        found = Manifest(**document)
    except (TypeError, KeyError):
        return None
    return found if _is_sound(found) else None


def _is_sound(manifest: Manifest) -> bool:
    """Whether what is compared later is of the kind it should be."""
    texts = all(isinstance(text, str) for text in (manifest.source, manifest.listing, manifest.digest))
    return (
        texts
        and isinstance(manifest.selection, dict)
        and all(
            isinstance(file.path, str)
            and isinstance(file.sha256, str)
            and isinstance(file.key, str)
            and isinstance(file.size, int)
            and isinstance(file.mtime_ns, int)
            for file in manifest.files
        )
    )


def entry_key(entry: Entry, source: str) -> str:
    """A name for the contents that a source lists under a path; an etag counts at its own source only."""
    facts = (
        "" if entry.digest else source,
        entry.path,
        str(entry.size),
        "" if entry.digest else entry.etag,
        str(entry.digest or ""),
    )
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def listing_digest(keys: Iterable[str], selection: Selection) -> str:
    """A digest of all that decides what a folder holds."""
    total = hashlib.sha256(json.dumps(selection.describe(), sort_keys=True).encode())
    for key in sorted(keys):
        total.update(key.encode())
    return total.hexdigest()


def total_of(files: Sequence[FileFact]) -> tuple[str, int]:
    """The digest of a tree, and its bytes."""
    return tree_digest((file.path, file.sha256) for file in files), sum(file.size for file in files)


def damaged(folder: Path, files: Iterable[FileFact], *, every_byte: bool = False) -> Iterator[FileFact]:
    """The files that are not as they were written; bytes are read only where the time of change differs."""
    for file in files:
        path = folder / file.path
        try:
            found = os.lstat(path)
        except OSError:
            yield file
            continue
        regular = stat.S_ISREG(found.st_mode) and found.st_size == file.size
        doubtful = every_byte or found.st_mtime_ns != file.mtime_ns
        if not regular or (doubtful and hash_file(path) != file.sha256):
            yield file
