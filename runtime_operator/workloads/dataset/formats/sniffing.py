"""Which format a file has: told by its first bytes, and by its name where bytes do not tell.

A name may lie (a gzip called .jsonl, a pickle called .json); the first bytes are what the reader will
meet. Pickles are known by both and never opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..records import Fault

HEAD = 64
# What arrives in a file's place when fetching it went wrong.
STAND_INS = {
    b"version https://git-lfs": "is a pointer of Git LFS, not the file it stands for",
    b"<!doctype html": "is a web page, such as a login or an error",
    b"<html": "is a web page, such as a login or an error",
}
COMPRESSIONS = {
    ".gz": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".bz2": "bz2",
    ".xz": "xz",
}
PICKLES = {".pkl", ".pickle", ".pckl", ".joblib", ".dill", ".pt", ".pth", ".ckpt", ".npy", ".npz", ".bin"}


class Format(StrEnum):
    """The formats that are read."""

    JSON_LINES = "JSON lines"
    JSON = "JSON"
    CSV = "CSV"
    TSV = "TSV"
    PARQUET = "Parquet"
    ARROW = "Arrow"


NAMES = {
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\xfd7zXZ": "xz",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file with rows, and how to read it; `name` is how it is told."""

    path: Path
    name: str
    format: Format
    compression: str | None = None


def is_data(path: Path) -> bool:
    """Whether a file of this name is taken for rows, or for something that pretends to be."""
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz", ".tar.zst")):
        return False
    suffix = _suffix(path)
    return suffix in NAMES or suffix in PICKLES


def is_pickle(path: Path) -> bool:
    """Whether the name alone says that reading the file would run code."""
    return _suffix(path) in PICKLES


def format_of(path: Path) -> Format | None:
    """The format that a file's name tells; None where it tells none."""
    return NAMES.get(_suffix(path)) if is_data(path) else None


def sniff(path: Path, name: str) -> Source | Fault:
    """How `path` is read, or why it is not."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    suffix = _suffix(path)
    if (
        is_pickle(path)
        or (head[:1] == b"\x80" and head[1:2] <= b"\x05" and len(head) > 1)
        or head.startswith(b"\x93NUMPY")
    ):
        return Fault("pickle", f"is pickled data ({suffix or 'no ending'})")
    for begins, words in STAND_INS.items():
        if head.lstrip().lower().startswith(begins):
            return Fault("damaged-file", words)
    compression = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if compression is None and path.suffix.lower() in COMPRESSIONS and head:
        return Fault("damaged-file", f"is not compressed although its name ends in {path.suffix}")
    if head.startswith(b"PAR1"):
        return Source(path, name, Format.PARQUET)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return Source(path, name, Format.ARROW)
    if suffix not in NAMES:
        return Fault("unknown-format", f"ends in {path.suffix or 'nothing'}, which is not read")
    kind = NAMES[suffix]
    if kind in (Format.PARQUET, Format.ARROW) and head:
        return Fault("damaged-file", f"is named {suffix} but does not begin like one (begins {head[:4]!r})")
    if not head:
        return Fault("empty-file", "is empty")
    return Source(path, name, kind, compression)


def _suffix(path: Path) -> str:
    """The ending that names the format, under the one that names the compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix
