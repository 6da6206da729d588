"""A chunked body as one stream: the sizes between its chunks are taken out, its trailers passed over."""

from __future__ import annotations

import re
from io import BufferedReader

_LONGEST_LINE = 1 << 12
_MOST_TRAILERS = 64
_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")


class Chunks:
    """The body of one answer; ValueError where it is not whole."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._left = 0
        self._begun = self._ended = False

    def readinto1(self, buffer: memoryview, /) -> int:
        """Read what has arrived of the chunk at hand; 0 at the end of the last."""
        if self._left == 0 and not self._ended:
            self._next()
        if self._ended:
            return 0
        count = self._file.readinto1(buffer[: self._left])
        if not count:
            raise ValueError("a chunk that ends early")
        self._left -= count
        return count

    def _next(self) -> None:
        if self._begun and self._line() not in (b"\r\n", b"\n"):
            raise ValueError("a chunk that is longer than its size")
        self._begun = True
        found = _SIZE.fullmatch(self._line())
        if found is None:
            raise ValueError("a chunk without a size")
        self._left = int(found.group(1), 16)
        if self._left == 0:
            self._pass_trailers()
            self._ended = True

    def _pass_trailers(self) -> None:
        for _ in range(_MOST_TRAILERS):
            line = self._line()
            if line in (b"\r\n", b"\n"):
                return
            if not line.endswith(b"\n"):
                break
        raise ValueError("trailers that do not end")

    def _line(self) -> bytes:
        return self._file.readline(_LONGEST_LINE)
