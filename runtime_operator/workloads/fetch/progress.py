"""How far a fetch is: bytes, rate and time left, counted by many threads and told by a `Report`."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from .order import Fetched

_WINDOW_SECONDS = 15.0


class Progress:
    """Counts bytes."""

    def __init__(
        self, *, total: int, done: int, files: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self.done, self.files, self.files_done = total, done, files, 0
        self._clock = clock
        self._lock = threading.Lock()
        self._past: deque[tuple[float, int]] = deque([(clock(), done)])

    def add(self, count: int) -> None:
        """Count bytes that have come, or, below zero, that were of no use."""
        with self._lock:
            self.done += count
            self.total = max(self.total, self.done)

    def file_done(self) -> None:
        """Count a file that is whole."""
        with self._lock:
            self.files_done += 1

    def rate(self) -> float:
        """Bytes a second, over the last quarter of a minute."""
        with self._lock:
            now = self._clock()
            self._past.append((now, self.done))
            while len(self._past) > 2 and now - self._past[0][0] > _WINDOW_SECONDS:
                self._past.popleft()
            then, before = self._past[0]
            return max(0.0, (self.done - before) / (now - then)) if now > then else 0.0

    def percent(self) -> int:
        """How much is there, rounded down: 100 is only said of what is whole."""
        if not self.total:
            return 100 if self.files_done == self.files else 0
        return min(99 if self.files_done < self.files else 100, self.done * 100 // self.total)

    def seconds_left(self, rate: float) -> float | None:
        """How long it will take at this rate; None where nothing comes."""
        return max(0.0, (self.total - self.done) / rate) if rate > 0 else None


class Report(Protocol):
    """Somebody who is told."""

    def waiting(self, holder: str) -> None:
        """Another process fetches the same target; it runs on the host `holder`."""

    def begin(self, source: str, progress: Progress) -> None:
        """The bytes begin to move."""

    def tick(self, progress: Progress) -> None:
        """Called several times a second."""

    def end(self, result: Fetched) -> None:
        """The folder is finished."""
