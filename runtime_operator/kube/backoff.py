"""How long to wait before another try: doubling, capped, never twice the same.

The jitter keeps many clients of one API server from coming back together; the cap keeps everybody within
seconds of a server that has come back.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

Chance = Callable[[], float]
"""a number from 0 up to 1, as `random.random`"""


@dataclass(slots=True)
class Backoff:
    """Counts tries in a row; the n-th wait lies between half and the whole of `first` * 2**n, up to `cap`."""

    first: float = 0.1
    cap: float = 3.0
    chance: Chance = random.random
    tries: int = 0

    def next(self, at_least: float | None = None) -> float:
        """Return the next wait; what the server asked for is never cut short."""
        most = min(self.cap, self.first * 2.0 ** min(self.tries, 30))
        self.tries += 1
        return max(at_least or 0.0, most * (0.5 + 0.5 * self.chance()))

    def reset(self) -> None:
        """Begin anew, after a success."""
        self.tries = 0
