"""Digests: of a stream as it passes, of a file, and of a tree of files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from .source import Digest

CHUNK = 1 << 20


class Hash(Protocol):
    """What hashlib makes."""

    def update(self, data: memoryview | bytes, /) -> None:
        """Take in more bytes."""

    def hexdigest(self) -> str:
        """Give the digest of what was taken in."""


class Hashes:
    """The SHA-256 of a stream, and beside it the digest that the source promised, if that is another."""

    def __init__(self, promised: Digest | None, size: int | None) -> None:
        self._promised = promised
        self._sha256 = hashlib.sha256()
        self._other = _other_hash(promised, size)
        self.position = 0

    def update(self, data: memoryview) -> None:
        """Take in the next bytes."""
        self._sha256.update(data)
        if self._other is not None:
            self._other.update(data)
        self.position += len(data)

    @property
    def sha256(self) -> str:
        """The SHA-256 of what has passed."""
        return self._sha256.hexdigest()

    def kept_promise(self) -> bool:
        """Whether the digest is the one that the source promised, if it did."""
        if self._promised is None:
            return True
        found = self._other.hexdigest() if self._other is not None else self.sha256
        return found == self._promised.value.lower()


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    total, buffer = hashlib.sha256(), memoryview(bytearray(CHUNK))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            total.update(buffer[:count])
    return total.hexdigest()


def tree_digest(files: Iterable[tuple[str, str]]) -> str:
    """The digest of a tree from its paths and SHA-256s: of what `sha256sum` prints, sorted by path."""
    total = hashlib.sha256()
    for path, sha256 in sorted(files):
        total.update(f"{sha256}  {path}\n".encode())
    return f"sha256:{total.hexdigest()}"


def read_into(fd: int, buffer: memoryview, position: int) -> int:
    """Read from a place of a file into a buffer."""
    return os.preadv(fd, [buffer], position)


def _other_hash(promised: Digest | None, size: int | None) -> Hash | None:
    if promised is None or promised.kind == "sha256":
        return None
    if promised.kind == "git-sha1":
        return hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    return hashlib.new(promised.kind, usedforsecurity=False)
