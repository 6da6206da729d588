"""Jobs that have no JobSet yet go first: what a pod needs only once it runs waits for them, for a moment.

Of a burst of jobs each is several objects. Pods take longest to come, so every job gets its JobSet before
the names of any are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..memory import Memory

LONGEST = 5.0  # seconds
LOOK_AGAIN_AFTER = 0.2


class Beginnings:
    """Counts the jobs that are being begun."""

    def __init__(self, clock: Callable[[], float], others_wait: Callable[[], bool]) -> None:
        self._clock, self._others_wait, self._number = clock, others_wait, 0

    @contextmanager
    def counted(self, *, begins: bool) -> Iterator[None]:
        """Work on a job, which has no JobSet yet or has one."""
        self._number += begins
        try:
            yield
        finally:
            self._number -= begins

    def begun(self, memory: Memory) -> bool:
        """A job has got its JobSet now; whether it is to wait for others."""
        memory.begun_at = self._clock()
        return self._others_wait() or self.go_first(memory)

    def go_first(self, memory: Memory) -> bool:
        """Whether others are being begun, for which this job is to wait."""
        if memory.begun_at is None:
            return False
        waits = self._number > 0 and self._clock() < memory.begun_at + LONGEST
        memory.begun_at = memory.begun_at if waits else None
        return waits
