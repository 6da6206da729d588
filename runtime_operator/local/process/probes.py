"""When a container counts as started, ready, alive: thresholds over the results of its probes."""

from __future__ import annotations

from dataclasses import dataclass

from .pod import Object


@dataclass(frozen=True, slots=True)
class Settings:
    """How often a probe is asked and how many answers it takes, with Kubernetes' defaults."""

    delay: float
    period: float
    timeout: float
    successes: int
    failures: int

    @staticmethod
    def of(probe: Object) -> Settings:
        """Read a probe."""
        return Settings(
            delay=float(probe.get("initialDelaySeconds") or 0),
            period=float(probe.get("periodSeconds") or 10),
            timeout=float(probe.get("timeoutSeconds") or 1),
            successes=int(probe.get("successThreshold") or 1),
            failures=int(probe.get("failureThreshold") or 3),
        )


class Verdict:
    """What a row of answers comes to: true, false, or still what it was."""

    def __init__(self, settings: Settings, *, at_first: bool | None) -> None:
        self.value = at_first
        self._settings = settings
        self._last: bool | None = None
        self._row = 0

    def take(self, answer: bool) -> bool:
        """Count an answer; tell whether the verdict is a new one."""
        self._row = self._row + 1 if answer is self._last else 1
        self._last = answer
        needed = self._settings.successes if answer else self._settings.failures
        if self._row < needed or self.value is answer:
            return False
        self.value = answer
        return True
