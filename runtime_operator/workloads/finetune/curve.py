"""The curves of a whole run, also of one that was killed in between, from its own progress file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .result import Logged


def read_steps(progress: Path) -> dict[int, dict[str, Any]]:
    """The newest event of each step; a line that a killed process left half written is none."""
    newest: dict[int, dict[str, Any]] = {}
    if not progress.is_file():
        return newest
    for line in progress.read_text(encoding="utf-8").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "step":
            newest[event["step"]] = event
    return dict(sorted(newest.items()))


def tokens_until(steps: Mapping[int, Mapping[str, Any]], step: int) -> int:
    """The tokens seen up to and with a step."""
    return max((int(event["tokens"]) for at, event in steps.items() if at <= step), default=0)


def logged(step: int, loss: float, learning_rate: float, event: Mapping[str, Any]) -> Logged:
    """A point of the curves; speed and memory are what the event tells of them."""
    return Logged(
        step=step,
        loss=loss,
        learning_rate=learning_rate,
        gradient_norm=event.get("gradient_norm"),
        tokens_per_second=event.get("tokens_per_second"),
        memory=event.get("memory"),
    )


def curve_of(steps: Mapping[int, Mapping[str, Any]]) -> list[Logged]:
    """The curve that the events tell; a null is a number that JSON cannot hold."""
    return [
        logged(step, _number(event["loss"]), _number(event["learning_rate"]), event)
        for step, event in steps.items()
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else value
