"""One file on its way: which bytes are there, written at their place and hashed in order.

Ranges arrive in any order. Bytes that continue what is hashed are hashed from the buffer they came in;
others are read back from the page cache when their turn comes, by whichever thread has just put a piece in
place. So hashing costs no pass of its own and no memory.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from .extents import Extents
from .hashing import CHUNK, Hashes, read_into
from .journal import Journal
from .source import Entry


class DiskTrouble(Exception):
    """Our own disk refused, not the source."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Part:
    """A file that is being fetched."""

    def __init__(self, entry: Entry, key: str, file: Path, journal: Journal) -> None:
        self.entry, self.key, self.file = entry, key, file
        self._journal = journal
        record = journal.records.get(key)
        kept = record is not None and entry.seekable and file.is_file()
        self.extents = record.extents if record is not None and kept else Extents()
        self._fd: int | None = None
        self._lock = threading.Lock()
        self._hash_lock = threading.Lock()
        self._hashes = Hashes(entry.digest, entry.size)

    def open(self) -> None:
        """Open the file, once for all threads."""
        with self._lock:
            if self._fd is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                with our_disk():
                    self._fd = os.open(self.file, flags, 0o644)

    def write(self, data: memoryview, position: int, *, note: bool = True) -> None:
        """Put bytes at their place; `note` them for the next run."""
        fd = self._descriptor()
        with our_disk():
            written = 0
            while written < len(data):
                written += os.pwrite(fd, data[written:], position + written)
            stop = position + len(data)
            if note:
                self._journal.wrote(self.key, position, stop)
        with self._lock:
            self.extents.add(position, stop)
        if self._hash_lock.acquire(blocking=False):
            try:
                if self._hashes.position == position:
                    self._hashes.update(data)
            finally:
                self._hash_lock.release()

    def hash_on(self, buffer: memoryview, *, wait: bool = False) -> None:
        """Hash what has become continuous, unless somebody else is at it."""
        if not self._hash_lock.acquire(blocking=wait):
            return
        try:
            while (left := self.prefix() - self._hashes.position) > 0:
                with our_disk():
                    count = read_into(self._descriptor(), buffer[: min(left, CHUNK)], self._hashes.position)
                if not count:
                    raise DiskTrouble(OSError(f"{self.file.name} is shorter than what was written"))
                self._hashes.update(buffer[:count])
        finally:
            self._hash_lock.release()

    def prefix(self) -> int:
        """Up to where the file is continuous."""
        with self._lock:
            return self.extents.prefix

    def begin_anew(self) -> None:
        """Forget all bytes."""
        with self._lock:
            self.extents = Extents()
            self._hashes = Hashes(self.entry.digest, self.entry.size)
            with our_disk():
                self._journal.drop(self.key)
                if self._fd is not None:
                    os.ftruncate(self._fd, 0)

    def sync(self) -> None:
        """Bring what is written to the disk."""
        with self._lock:
            fd = os.dup(self._fd) if self._fd is not None else None
        if fd is not None:
            try:
                with suppress(OSError):
                    os.fdatasync(fd)
            finally:
                os.close(fd)

    def verify(self, size: int) -> str | None:
        """The SHA-256 of the whole file; None where it is not what the source promised."""
        fd = self._descriptor()
        with our_disk():
            if os.fstat(fd).st_size != size:
                os.ftruncate(fd, size)
        return self._hashes.sha256 if self._hashes.position == size and self._hashes.kept_promise() else None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _descriptor(self) -> int:
        if self._fd is None:
            self.open()
        assert self._fd is not None
        return self._fd


class our_disk:
    """Tell an OSError of our disk from one of the source."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise DiskTrouble(error) from None
