"""Files and folders that are complete or absent, whenever the process dies; and digests of both."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHUNK = 1 << 20
CARD_FILE = "README.md"


def write_text(path: Path, text: str) -> None:
    """Write `text` at once: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill, which takes the place of `path` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        _replace_folder(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def digest(path: Path) -> str:
    """The SHA-256 of a file, or of the names and contents of a folder's own files but its card.

    The card tells of the others, and changes when a model is measured.
    """
    if path.is_file():
        return _digest_of_file(path)
    total = hashlib.sha256()
    for file in sorted(entry for entry in path.iterdir() if entry.is_file() and entry.name != CARD_FILE):
        total.update(f"{file.name} {_digest_of_file(file)}\n".encode())
    return total.hexdigest()


def _replace_folder(new: Path, path: Path) -> None:
    old = path.with_name(f".{path.name}.old-{os.getpid()}")
    if path.exists():
        os.replace(path, old)
    os.replace(new, path)
    shutil.rmtree(old, ignore_errors=True)


def _digest_of_file(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
