"""What there is to tell, kept short: the same thing again is counted, a flood about one object is cut down.

A table of fixed size that never waits for anybody. The same means the same object, reason and message within
an hour; different events about one object come out of an allowance that refills with time.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .cache import Json

REMEMBERED = 4096
WAITING = 1000
SAME_AGAIN_EVERY = 10.0
FORGET_AFTER = 3600.0  # an API server keeps an event as long
BURST, REFILL_EVERY = 25.0, 60.0  # different events about one object
LONGEST_MESSAGE = 1024

Series = tuple[str, str, str, str]
"""uid of the object, type, reason, message"""


@dataclass(slots=True)
class Told:
    """One event as it stands, or shall stand, at the API server."""

    about: Json
    name: str
    first: datetime
    last: datetime
    changed: float
    count: int = 1
    written: float | None = None


@dataclass(slots=True)
class _Allowance:
    """How many different events about an object may still be told."""

    left: float
    at: float


class EventTable:
    """What was recorded, and what of it waits to be written."""

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self.dropped = 0
        """events that are never told: too many at once, or about one object"""
        self._now, self._clock = now, clock
        self._told: OrderedDict[Series, Told] = OrderedDict()
        self._waiting: OrderedDict[Series, None] = OrderedDict()
        self._allowed: OrderedDict[str, _Allowance] = OrderedDict()
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._waiting)

    def record(self, about: Json, type: str, reason: str, message: str) -> None:
        """Take an event in, or leave it out."""
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[: LONGEST_MESSAGE - 1]}…"
        series = (about["metadata"].get("uid", ""), type, reason, message)
        told = self._told.get(series)
        if told and self._clock() - told.changed < FORGET_AFTER:
            told.count, told.last, told.changed = told.count + 1, self._now(), self._clock()
        elif len(self._waiting) < WAITING and self._is_allowed(series[0]):
            self._told[series] = self._begin(about)
        else:
            self.dropped += 1
            return
        self._told.move_to_end(series)
        self._waiting[series] = None
        if len(self._told) > REMEMBERED:
            forgotten, _ = self._told.popitem(last=False)
            self._waiting.pop(forgotten, None)

    def take(self, *, at_once: bool = False) -> tuple[Series, Told] | None:
        """Take the first event that may be written now; the same again waits, but not at the end."""
        for series in self._waiting:
            told = self._told[series]
            if at_once or told.written is None or self._clock() - told.written >= SAME_AGAIN_EVERY:
                del self._waiting[series]
                return series, told
        return None

    def _begin(self, about: Json) -> Told:
        metadata, now = about["metadata"], self._now()
        number = f"{int(now.timestamp() * 1e6):x}{next(self._numbers) % 4096:03x}"
        named = {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            **{field: metadata.get(field) for field in ("name", "namespace", "uid", "resourceVersion")},
        }
        return Told(
            {field: text for field, text in named.items() if text},
            f"{metadata['name'][:200]}.{number}",
            now,
            now,
            self._clock(),
        )

    def _is_allowed(self, uid: str) -> bool:
        """Whether one more different event about an object may be told."""
        allowance = self._allowed.setdefault(uid, _Allowance(BURST, self._clock()))
        self._allowed.move_to_end(uid)
        if len(self._allowed) > REMEMBERED:
            self._allowed.popitem(last=False)
        refill = (self._clock() - allowance.at) / REFILL_EVERY
        allowance.left, allowance.at = min(BURST, allowance.left + refill), self._clock()
        if allowance.left < 1:
            return False
        allowance.left -= 1
        return True
