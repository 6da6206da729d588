"""The queue of keys to work on: a key waits at most once, and no two workers ever have the same.

Three sets tell all: what waits, what is being worked on, and what became dirty meanwhile and waits again as
soon as its worker is done. Keys can come later (the earliest time wins) or again after a failure, each time
later, up to half a minute. Time is the loop's, so a test runs it in virtual time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from .backoff import Backoff, Chance

Key = TypeVar("Key", bound=Hashable)

FIRST_RETRY = 0.005
LONGEST_RETRY = 30.0


class WorkQueue(Generic[Key]):
    """Hands out keys; made inside a running loop."""

    def __init__(self, *, chance: Chance = random.random) -> None:
        self._loop = asyncio.get_running_loop()
        self._chance = chance
        self._waiting: deque[Key] = deque()
        self._dirty: set[Key] = set()
        self._busy: set[Key] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._failures: dict[Key, Backoff] = {}
        self._due: dict[Key, float] = {}
        self._later: list[tuple[float, int, Key]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def busy(self) -> int:
        """How many keys are being worked on."""
        return len(self._busy)

    @property
    def delayed(self) -> int:
        """How many keys wait for their time."""
        return len(self._due)

    def add(self, key: Key) -> None:
        """Have a key worked on, once more if it is being worked on now."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._busy:
            self._push(key)

    def add_after(self, key: Key, delay: float) -> None:
        """Add a key later; of several times the earliest counts."""
        if delay <= 0:
            self._due.pop(key, None)
            return self.add(key)
        due = self._loop.time() + delay
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            heapq.heappush(self._later, (due, next(self._order), key))
            self._set_timer()
        return None

    def retry(self, key: Key, *, at_least: float | None = None) -> None:
        """Add a key after its failure: later each time, and not before the server asked for."""
        failures = self._failures.setdefault(key, Backoff(FIRST_RETRY, LONGEST_RETRY, self._chance))
        self.add_after(key, failures.next(at_least))

    def failures(self, key: Key) -> int:
        """How many times in a row a key has failed."""
        return self._failures[key].tries if key in self._failures else 0

    def forget(self, key: Key) -> None:
        """Forget the failures of a key, after a success."""
        self._failures.pop(key, None)

    async def get(self) -> Key:
        """Wait for a key; whoever gets it calls `done`."""
        while not self._waiting:
            await self._woken()
        key = self._waiting.popleft()
        self._dirty.discard(key)
        self._busy.add(key)
        return key

    def done(self, key: Key) -> None:
        """Give a key back; it waits again if it was added meanwhile."""
        self._busy.discard(key)
        if key in self._dirty:
            self._push(key)

    def _push(self, key: Key) -> None:
        self._waiting.append(key)
        self._wake_one()

    def _wake_one(self) -> None:
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                return waiter.set_result(None)
        return None

    async def _woken(self) -> None:
        waiter = self._loop.create_future()
        self._idle.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if self._waiting:  # the key that woke this worker belongs to another now
                self._wake_one()
            raise

    def _set_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._later[0][0], self._fire) if self._later else None

    def _fire(self) -> None:
        while self._later and self._later[0][0] <= self._loop.time():
            due, _, key = heapq.heappop(self._later)
            if self._due.get(key) == due:  # else an earlier time took its place
                del self._due[key]
                self.add(key)
        self._set_timer()
