"""Lines out of a byte stream, however long: a TrainJob's event may have more than a megabyte."""

from __future__ import annotations


class LineSplitter:
    """Keeps what has no end yet; empty lines are left out."""

    def __init__(self) -> None:
        self._open: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take what came, and return the lines that it completed."""
        first, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._open.append(chunk)
            return []
        self._open.append(first)
        *complete, tail = rest.split(b"\n")
        lines = [b"".join(self._open), *complete]
        self._open = [tail]
        return [line for line in lines if line]

    def rest(self) -> bytes:
        """Return what came after the last end of a line."""
        return b"".join(self._open)
