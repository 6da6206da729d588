"""How long a container waits before it is started again in place, as a kubelet decides it.

The first restart is at once. Each further one waits twice as long as the one before, from the base to the
longest; a container that ran for twice the longest wait starts from the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """The base and the longest wait in seconds."""

    base: float = 10.0
    longest: float = 300.0

    def next_wait(self, last: float | None, *, ran: float) -> tuple[float, float]:
        """Return (seconds to wait now, the wait to remember) for a container that ran so many seconds.

        `last` is what was remembered at the restart before; None if there was none.
        """
        if last is None or ran > 2 * self.longest:
            return 0.0, self.base
        return last, min(2 * last, self.longest)
