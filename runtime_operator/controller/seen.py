"""What is told of a job beyond its JobSet: why its pods do not run, of what one died, why Kueue waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """Sentences for a person, each only where there is something to say."""

    trouble: str | None = None
    """what keeps pods from running"""
    cause: str | None = None
    """what the job died of, if it did"""
    queued: str | None = None
    """why Kueue has not admitted it"""


NOTHING = Seen()
