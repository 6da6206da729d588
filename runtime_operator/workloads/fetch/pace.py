"""How long to wait before asking again, for all threads of a fetch together.

Where the source says how long (Retry-After), everybody waits; else each thread waits twice as long each
time, with jitter, so that threads which failed together do not come back together.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .source import STALL_SECONDS
from .troubles import Expired, Transient

Answer = TypeVar("Answer")


class Stopped(Exception):
    """The fetch is being ended; nothing is to be done any more."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How much trouble to bear."""

    first: float = 0.5
    """seconds before the second try"""
    most: float = 30.0
    """seconds between two tries, unless the source asks for more"""
    tries: int = 8
    """tries without a byte of progress"""
    longest: float = 600.0
    """seconds a source may ask us to wait; beyond, the fetch ends and says so"""
    stall: float = STALL_SECONDS
    least_rate: int = 1024
    """bytes a second, over `stall` seconds; a slower connection is made anew"""


class Pace:
    """When the next request may go out."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.stop = threading.Event()
        """set while threads are to stop"""
        self._ended = False
        self._not_before = 0.0
        self._lock = threading.Lock()

    def end(self) -> None:
        """Stop, for good."""
        self._ended = True
        self.stop.set()

    def go_on(self) -> None:
        """Let new threads work, after one that failed has stopped the others."""
        if not self._ended:
            self.stop.clear()

    def begin(self) -> None:
        """Wait until requests are welcome again; Stopped if the fetch ends meanwhile."""
        while (left := self._not_before - time.monotonic()) > 0:
            self.rest(left)
        if self.stop.is_set():
            raise Stopped

    def after(self, trouble: Transient, tries: int) -> None:
        """Wait after a trouble, or raise it where waiting is no use any more."""
        patience = self.patience
        if tries >= patience.tries or trouble.after > patience.longest:
            raise trouble
        if trouble.after:
            with self._lock:
                self._not_before = max(self._not_before, time.monotonic() + trouble.after)
            return self.begin()
        ceiling = min(patience.first * 2 ** (tries - 1), patience.most)
        return self.rest(ceiling * random.uniform(0.5, 1.0))

    def rest(self, seconds: float) -> None:
        """Wait; Stopped if the fetch ends meanwhile."""
        if self.stop.wait(seconds):
            raise Stopped


def patiently(ask: Callable[[], Answer], *, renew: Callable[[], None], pace: Pace, name: str) -> Answer:
    """Ask until there is an answer, or no hope of one."""
    tries, denied = 0, False
    while True:
        try:
            pace.begin()
            return ask()
        except Expired:
            if denied:
                raise
            denied = True
            renew()
        except Transient as trouble:
            tries += 1
            pace.after(trouble, tries)
        except OSError as error:
            tries += 1
            pace.after(Transient(f"{name}: {error.strerror or error}"), tries)
