"""Which bytes of a file are there: ranges that are merged as they come in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class Extents:
    """A set of bytes, kept as sorted ranges that do not touch."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def add(self, start: int, stop: int) -> None:
        """Add the bytes from start up to stop."""
        if start >= stop:
            return
        first = bisect_left(self._stops, start)
        last = bisect_right(self._starts, stop)
        if first < last:
            start = min(start, self._starts[first])
            stop = max(stop, self._stops[last - 1])
        self._starts[first:last] = [start]
        self._stops[first:last] = [stop]

    def missing(self, size: int) -> Iterator[tuple[int, int]]:
        """The ranges below `size` that are not there."""
        position = 0
        for start, stop in zip(self._starts, self._stops, strict=True):
            if start > position:
                yield position, min(start, size)
            position = stop
            if position >= size:
                return
        if position < size:
            yield position, size

    @property
    def prefix(self) -> int:
        """Up to where nothing is missing."""
        return self._stops[0] if self._starts and self._starts[0] == 0 else 0

    @property
    def total(self) -> int:
        """How many bytes are there."""
        return sum(self._stops) - sum(self._starts)
