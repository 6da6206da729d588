"""Contents of git's blobs: small ones by one git that answers by name, large ones each by a git of its own.

Starting a program for each of a hundred thousand files would take longer than fetching them.
"""

from __future__ import annotations

import io
import subprocess
import threading
from collections.abc import Iterable, Iterator

from ..source import Reader
from ..troubles import FetchError, Transient
from .git_program import Git

SMALL = 4 << 20


class Blobs:
    """The blobs of one repository, for many threads."""

    def __init__(self, git: Git, text: str) -> None:
        self._git = git
        self._text = text
        self._lock = threading.Lock()
        self._batch: subprocess.Popen[bytes] | None = None

    def open(self, name: str, size: int) -> Reader:
        """The contents of a blob as a stream."""
        if size > SMALL:
            return _Output(self._git.start("cat-file", "blob", name), f"{self._text}: {name}")
        with self._lock:
            return io.BytesIO(self._content(name))

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The contents of small blobs, one after the other."""
        for name in names:
            with self._lock:
                content = self._content(name)
            yield name, content

    def close(self) -> None:
        """End the git that answers."""
        with self._lock:
            batch, self._batch = self._batch, None
        if batch is not None:
            _end(batch)

    def _content(self, name: str) -> bytes:
        if self._batch is None:
            self._batch = self._git.start("cat-file", "--batch")
        batch = self._batch
        assert batch.stdin and batch.stdout
        try:
            batch.stdin.write(name.encode() + b"\n")
            batch.stdin.flush()
            head = batch.stdout.readline().split()
            if len(head) != 3 or head[1] != b"blob":
                raise FetchError(f"{self._text}: git has no contents for {name}, the repository is damaged")
            content = batch.stdout.read(int(head[2]))
            batch.stdout.read(1)
        except OSError as error:
            raise Transient(f"{self._text}: git ended while it was read ({error.strerror})") from None
        return content


class _Output:
    """What a program prints, as a stream."""

    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        self._process = process
        self._name = name

    def readinto(self, buffer: memoryview, /) -> int:
        """Read on; Transient where the program failed."""
        assert self._process.stdout
        count = self._process.stdout.readinto(buffer)  # type: ignore[attr-defined]
        if not count and self._process.wait():
            raise Transient(f"{self._name}: git cannot read it")
        return int(count)

    def close(self) -> None:
        """End the program."""
        _end(self._process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.terminate()
    process.wait()
