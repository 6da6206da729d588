"""Where a run's time goes: the seconds of each of its parts, none of them counted twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PARTS = ("prepare", "load", "train", "evaluate", "checkpoint", "save")


class Stopwatch:
    """Counts seconds for the part that runs; a part within a part stops the outer one meanwhile."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self._running: list[str] = []
        self._since = clock()

    @contextmanager
    def measuring(self, part: str) -> Iterator[None]:
        """Count for `part` as long as the block runs."""
        self._count()
        self._running.append(part)
        try:
            yield
        finally:
            self._count()
            self._running.pop()

    @property
    def seconds(self) -> dict[str, float]:
        """The parts that took any time, in the order in which they come."""
        self._count()
        return {part: round(value, 3) for part, value in self._seconds.items() if value}

    def _count(self) -> None:
        now = self._clock()
        if self._running:
            self._seconds[self._running[-1]] += now - self._since
        self._since = now


class Timed:
    """A part of a trainer: looks at held-out rows and checkpoints are counted apart from the steps."""

    watch: Stopwatch

    def evaluate(self, *given: Any, **more: Any) -> Any:
        """Look at the held-out rows."""
        with self.watch.measuring("evaluate"):
            return super().evaluate(*given, **more)  # type: ignore[misc]  # of the trainer it is a part of

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        with self.watch.measuring("checkpoint"):
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
