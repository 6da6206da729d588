"""How a component ends when something is wrong: its log closes with the sentence, not with a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from kfp_trainer.runtime_operator.errors import KfpTrainerError

P = ParamSpec("P")
R = TypeVar("R")


def sentence_on_failure(task: Callable[P, R]) -> Callable[P, R]:
    """End the process with the error's own sentence; what we did not foresee keeps its traceback."""

    @wraps(task)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return task(*args, **kwargs)
        except KfpTrainerError as error:
            raise SystemExit(f"error: {error}") from error

    return run
