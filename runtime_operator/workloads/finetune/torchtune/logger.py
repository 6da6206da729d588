"""What a recipe logs at each step becomes our progress: lines, events, and what a TrainJob is told.

A run of ours is followed by a `Follower` of its own, which knows its steps and its rows. A recipe that
somebody else has put together (`tune run …`) is followed as far as it can be: it tells its steps itself, and
its own log stays.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..memory import held_now
from ..progress import StepEvent, step_line
from .endpoint import Endpoint


class Follower:
    """Turns a recipe's numbers into events: the mean loss since the one before, every so many steps."""

    def __init__(
        self,
        say: Callable[[StepEvent], None],
        *,
        every: int = 1,
        tokens_at: Callable[[int], int] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.steps = self.steps_an_epoch = 0
        self._say, self._every, self._tokens_at, self._clock = say, every, tokens_at, clock
        self._losses: list[float] = []
        self._first: tuple[int, float] | None = None
        self._last = (0, clock())

    def begin(self, *, steps: int, steps_an_epoch: int) -> None:
        """The recipe is about to take its first step."""
        self.steps, self.steps_an_epoch = self.steps or steps, self.steps_an_epoch or steps_an_epoch
        self._last = (self._last[0], self._clock())

    def step(self, number: int, told: Mapping[str, Any]) -> None:
        """A step is done."""
        self._losses.append(float(told["loss"]))
        if self._first is None:
            self._first = (number - 1, self._last[1])
            self._last = (self._tokens(number - 1), self._last[1])
        if number == 1 or number % self._every == 0 or number == self.steps:
            self._tell(number, told)

    def _tell(self, number: int, told: Mapping[str, Any]) -> None:
        assert self._first is not None
        now, tokens = self._clock(), self._tokens(number)
        taken = (now - self._first[1]) / max(1, number - self._first[0])
        rate = (tokens - self._last[0]) / max(1e-9, now - self._last[1])
        if self._tokens_at is None:
            rate = float(told.get("tokens_per_second_per_gpu", 0.0))  # only of tokens that are learnt
        norm = told.get("grad_norm")
        self._say(
            StepEvent(
                step=number,
                of=self.steps,
                epoch=round(number / self.steps_an_epoch, 4) if self.steps_an_epoch else 0.0,
                loss=sum(self._losses) / len(self._losses),
                learning_rate=float(told.get("lr", 0.0)),
                gradient_norm=None if norm is None else float(norm),
                tokens=tokens,
                tokens_per_second=round(rate, 1),
                remaining_seconds=round(max(0.0, taken * (self.steps - number)), 1),
                memory=held_now(),
            )
        )
        self._losses.clear()
        self._last = (tokens, now)

    def _tokens(self, number: int) -> int:
        return self._tokens_at(number) if self._tokens_at else 0


_following: list[Follower] = []


@contextmanager
def followed_by(follower: Follower) -> Iterator[None]:
    """The recipe that runs meanwhile is followed by `follower`."""
    _following.append(follower)
    try:
        yield
    finally:
        _following.pop()


class ProgressLogger:
    """A metric logger of TorchTune; where it is given a folder it writes TorchTune's own log there too."""

    def __init__(self, log_dir: str | None = None, **ignored: Any) -> None:
        self.follower = _following[-1] if _following else _stranger()
        self._file = None
        if log_dir:
            Path(log_dir).mkdir(parents=True, exist_ok=True)
            self._file = (Path(log_dir) / f"log_{int(time.time())}.txt").open(
                "a", encoding="utf-8", buffering=1
            )

    def log_config(self, config: Any) -> None:
        """Keep the recipe's configuration beside its results."""
        from torchtune.training.metric_logging import save_config

        save_config(config)

    def log(self, name: str, data: Any, step: int) -> None:
        """One number alone is no step."""

    def log_dict(self, payload: Mapping[str, Any], step: int) -> None:
        """A step's numbers."""
        told = {name: float(value) for name, value in payload.items()}
        if self._file:
            self._file.write(
                f"Step {step} | {' '.join(f'{name}:{value}' for name, value in told.items())} \n"
            )
        self.follower.step(step, told)

    def close(self) -> None:
        """Nothing more will come."""
        if self._file:
            self._file.close()


def _stranger() -> Follower:
    endpoint = Endpoint(os.environ)

    def say(event: StepEvent) -> None:
        click.echo(step_line(event))
        endpoint.tell(event)

    return Follower(say)
