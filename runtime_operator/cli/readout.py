"""How far a training run is, in one line: step, loss, rate, time left.

It is read from what a run says anyway: the progress that a trainer posts, and lines of `name=value` or
`name:value` such as trainers print. What a run does not say is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_PAIR = re.compile(
    r"(?:^|[\s|{,'\"])([A-Za-z_]\w*)['\"]?\s*[=:]\s*['\"]?(-?\d[\d.]*(?:[eE][+-]?\d+)?)(?![\w.])"
)
_STEP = re.compile(r"^\s*Step (\d+) \|", re.IGNORECASE)
_NAMES: Mapping[str, tuple[str, ...]] = {
    "step": ("step", "global_step"),
    "of": ("of", "max_steps", "total_steps"),
    "loss": ("loss", "train_loss"),
    "rate": ("tokens_per_second", "tokens_per_s", "tokens_per_second_per_gpu", "train_tokens_per_second"),
    "left": ("remaining_seconds", "eta_s"),
}


class Readout:
    """What is known of a run's progress."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}
        self._percent: int | None = None

    def take_line(self, text: str) -> bool:
        """Take in a printed line; tell whether it is one of progress."""
        found = {name: float(value) for name, value in _PAIR.findall(text) if value.count(".") <= 1}
        if match := _STEP.match(text):
            found["step"] = float(match[1])
        known = self._known(found)
        if "loss" not in known:
            return False
        self._values |= known
        return "step" in known

    def take_progress(
        self, percent: int | None, seconds_left: int | None, metrics: Mapping[str, str]
    ) -> None:
        """Take in what a trainer has posted."""
        self._percent = percent
        numbers = {}
        for name, value in metrics.items():
            try:
                numbers[name] = float(value)
            except ValueError:
                continue
        self._values |= self._known(numbers)
        if seconds_left is not None:
            self._values["left"] = float(seconds_left)

    def text(self) -> str:
        """The line; empty while nothing is known."""
        values, parts = self._values, []
        if "step" in values:
            of = f"/{values['of']:.0f}" if "of" in values else ""
            parts.append(f"step {values['step']:.0f}{of}")
        elif self._percent is not None:
            parts.append(f"{self._percent} %")
        if "loss" in values:
            parts.append(f"loss {values['loss']:.4g}")
        if "rate" in values:
            parts.append(f"{values['rate']:.0f} tokens/s")
        if "left" in values and (parts or values["left"]):
            parts.append(f"{span(values['left'])} left")
        return " · ".join(parts)

    @staticmethod
    def _known(found: Mapping[str, float]) -> dict[str, float]:
        return {
            ours: found[name] for ours, names in _NAMES.items() for name in reversed(names) if name in found
        }


def span(seconds: float) -> str:
    """A time span with minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
