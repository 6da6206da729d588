"""A run's progress twice: JSON lines for programs, `name=value` lines for people and for Katib.

The first line of the file is `start`, then a `step` every few steps, a `held_out` for each look at the
held-out rows and a `checkpoint` when one is complete (`checkpoint_failed` when the disk was full); the last
is `end`, or `stopped` after SIGTERM. A run that is resumed goes on in the same file, with a `start` of its
own.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class StepEvent:
    """What is known after a step."""

    step: int
    of: int
    epoch: float
    loss: float
    learning_rate: float
    gradient_norm: float | None
    tokens: int
    tokens_per_second: float
    remaining_seconds: float
    memory: int = 0
    """bytes the first process held"""


def step_line(event: StepEvent) -> str:
    """One line for the terminal and for collectors that look for `loss=`."""
    rate = f"{event.learning_rate:.3g}"
    return (
        f"step={event.step} of={event.of} {_loss('loss', event.loss)} learning_rate={rate} "
        f"tokens_per_second={event.tokens_per_second:.0f} remaining_seconds={event.remaining_seconds:.0f}"
    )


class ProgressLog:
    """Appends events to `progress.jsonl` and says the steps aloud."""

    def __init__(
        self,
        file: Path,
        *,
        say: Callable[[str], None],
        end: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._say, self._end = say, end
        self._clock = clock
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self._open = file.open("a", encoding="utf-8", buffering=1)

    def write(self, event: str, **facts: Any) -> None:
        """Append one event; a number that JSON cannot hold becomes null."""
        line = {"event": event, "time": round(self._clock(), 3), **facts}
        self._open.write(json.dumps({name: _plain(value) for name, value in line.items()}) + "\n")

    def step(self, event: StepEvent) -> None:
        """Append a step and say it."""
        self.write("step", **asdict(event))
        self._say(step_line(event))

    def held_out(self, step: int, loss: float) -> None:
        """Append a look at the held-out rows and say it."""
        self.write("held_out", step=step, eval_loss=loss)
        self._say(f"step={step} {_loss('eval_loss', loss)}")

    def close(self) -> None:
        """Nothing more will come."""
        self._open.close()
        self._end()


def _loss(name: str, value: float) -> str:
    """A collector would take `loss=nan` for a loss of nothing."""
    return f"{name}={value:.4f}" if math.isfinite(value) else f"{name} is no number"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
