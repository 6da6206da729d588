"""Takes a job along when its step is told to stop: first the DELETE, then everything else.

Kubeflow Pipelines leaves a step between nothing and a second after SIGTERM. So the signal's handler sends the
DELETE itself, and only then lets this process end; what was under way is called off by that, and the DELETE
is sent again if it may have come before the create.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Will(Protocol):
    """What is to be done at the end of a process that is told to stop."""

    def say(self) -> bool:
        """Have the job deleted, at once; whether that is sure."""

    def say_until_taken(self) -> bool:
        """Have it deleted, also if it comes to be only now; whether that is sure."""


class Told(SystemExit):
    """Raised where a signal tells this process to stop."""


class Watch:
    """Whether the job is there, so that one DELETE is enough."""

    is_there = False


@contextmanager
def taken_along(will: Will, say: Callable[[str], None]) -> Iterator[Watch]:
    """Have the job deleted when a signal ends the block; only a main thread gets signals."""
    watch, deleted = Watch(), False

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal deleted
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)  # the end has begun
        deleted = will.say()
        raise Told(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield watch
    except Told:
        if not (deleted and watch.is_there):
            deleted = will.say_until_taken() or deleted
        say(
            "told to stop: the TrainJob is being deleted"
            if deleted
            else "told to stop: no TrainJob to delete"
        )
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
