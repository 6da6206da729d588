"""A line of progress that a terminal draws over and over; elsewhere every line stands for itself."""

from __future__ import annotations

import re
from typing import TextIO

BAR = 24
STEP = re.compile(
    r"step=(?P<step>\d+) of=(?P<of>\d+) loss=(?P<loss>\S+) .*\bremaining_seconds=(?P<left>\d+(?:\.\d+)?)"
)


class LiveLine:
    """Says lines; on a terminal the latest step takes the place of the one before."""

    def __init__(self, out: TextIO, *, indent: str = "") -> None:
        self._out, self._indent = out, indent
        self._draws = out.isatty()
        self._drawn = False

    def say(self, line: str) -> None:
        """Say a line, or draw it if it is a step."""
        step = STEP.match(line.strip())
        if step and self._draws:
            self._out.write(f"\r\x1b[K{self._indent}{moving(step)}")
            self._drawn = True
        else:
            self.end()
            self._out.write(f"{line}\n")
        self._out.flush()

    def end(self) -> None:
        """Leave what is drawn, and go to the next line."""
        if self._drawn:
            self._out.write("\n")
            self._drawn = False


def moving(step: re.Match[str]) -> str:
    """How far training is, as a bar."""
    done, of = int(step["step"]), int(step["of"])
    filled = round(BAR * done / of)
    minutes, seconds = divmod(round(float(step["left"])), 60)
    bar = "█" * filled + "░" * (BAR - filled)
    return f"{bar} step {done} of {of}, loss {float(step['loss']):.3f}, {minutes}:{seconds:02d} left"
