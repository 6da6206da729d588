"""What a step's log tells of its job: the lines of the first node as they are, and a little besides.

Errors hardly reach the Pipelines API, so this log must tell all. What is added never reads `name=number`:
collectors of metrics read the same log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ..jobs import Event, Line, News, Progress, Waiting

Say = Callable[[str], None]
say_line: Say = partial(print, flush=True)
LAST_WARNINGS = 10


class Teller:
    """Tells news, and keeps the last numbers and warnings."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.metrics: dict[str, float] = {}
        self.warnings: list[str] = []
        self._percent: int | None = None

    def tell(self, news: News) -> None:
        """Tell one piece of news."""
        match news:
            case Line(text=text):
                self.say(text)
            case Progress():
                self._tell_progress(news)
            case Event(object=about, reason=reason, message=message, warning=True):
                self.warnings.append(f"{about}: {reason}: {message}")
                self.say(f"warning: {self.warnings[-1]}")
            case Waiting(text=text):
                self.say(f"waits: {text}")

    def digest(self, told: str) -> str:
        """The last words on a job that failed, with the warnings about it."""
        if not self.warnings:
            return told
        last = "\n".join(f"  {each}" for each in self.warnings[-LAST_WARNINGS:])
        return f"{told}\nwarnings:\n{last}"

    def take_status(self, status: Mapping[str, Any]) -> None:
        """Keep the numbers of a job that has ended: its last report may have come with its end."""
        reported = (status.get("trainerStatus") or {}).get("metrics") or ()
        self._keep({each["name"]: each["value"] for each in reported})

    def _keep(self, metrics: Mapping[str, str]) -> None:
        for name, text in metrics.items():
            with suppress(ValueError):
                self.metrics[name] = float(text)

    def _tell_progress(self, progress: Progress) -> None:
        """Keep the numbers; tell each new percentage once."""
        self._keep(progress.metrics)
        if progress.percent is None or progress.percent == self._percent:
            return
        self._percent = progress.percent
        left = "" if progress.seconds_left is None else f", {progress.seconds_left} s left"
        numbers = "".join(f", {name} {text}" for name, text in progress.metrics.items())
        self.say(f"progress: {progress.percent} %{left}{numbers}")
