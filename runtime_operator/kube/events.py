"""Events for `kubectl describe`, written by one task beside the work, which never waits for its own story."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from datetime import datetime

import orjson

from .backoff import Backoff, Chance
from .cache import Json
from .election import utc_now
from .errors import AlreadyExists, ApiError, NotFound
from .event_table import EventTable, Series, Told
from .resource import EVENTS
from .transport import Transport

LOG = logging.getLogger(__name__)

TRIES = 5
LOOK_AGAIN_AFTER = 1.0


class Recorder:
    """Records events of one component; `run` writes them."""

    def __init__(
        self,
        transport: Transport,
        component: str,
        *,
        instance: str = "",
        now: Callable[[], datetime] = utc_now,
        chance: Chance = random.random,
    ) -> None:
        self.refused = 0
        """events that the API server did not take"""
        self._transport, self._component, self._instance = transport, component, instance
        self._chance = chance
        self._loop = asyncio.get_running_loop()
        self._table = EventTable(now, self._loop.time)
        self._wake = asyncio.Event()

    @property
    def dropped(self) -> int:
        """How many events were never told."""
        return self._table.dropped + self.refused

    def record(self, about: Json, reason: str, message: str, *, type: str = "Normal") -> None:
        """Tell something about an object: a decoded one, or as much of it as names it."""
        self._table.record(about, type, reason, message)
        self._wake.set()

    async def run(self) -> None:
        """Write what was recorded, until cancelled."""
        while True:
            await self._wake.wait()
            taken = self._table.take()
            if taken:
                await self._write(*taken)
                continue
            self._wake.clear()
            if len(self._table):
                self._loop.call_later(LOOK_AGAIN_AFTER, self._wake.set)

    async def flush(self) -> None:
        """Write all that waits, before the process ends; whoever calls sets the deadline."""
        while taken := self._table.take(at_once=True):
            await self._write(*taken)

    async def _write(self, series: Series, told: Told) -> None:
        """Write one event; what is refused is dropped, for a story is not worth a failure."""
        waits = Backoff(chance=self._chance)
        while True:
            try:
                await self._send(series, told)
            except ApiError as error:
                if not error.is_retryable or waits.tries >= TRIES:
                    LOG.warning("an event about %s is not told: %s", told.about["name"], error)
                    self.refused += 1
                    return
                await asyncio.sleep(waits.next(error.retry_after))
            else:
                told.written = self._loop.time()
                return

    async def _send(self, series: Series, told: Told) -> None:
        namespace = told.about.get("namespace", "default")
        if told.written is not None:
            change = {"count": told.count, "lastTimestamp": _stamp(told.last)}
            with contextlib.suppress(NotFound):  # an API server forgets events after an hour
                await self._transport.patch(EVENTS, namespace, told.name, orjson.dumps(change))
                return
        _, kind, reason, message = series
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": told.name, "namespace": namespace},
            "involvedObject": told.about,
            "type": kind,
            "reason": reason,
            "message": message,
            "count": told.count,
            "firstTimestamp": _stamp(told.first),
            "lastTimestamp": _stamp(told.last),
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
        }
        with contextlib.suppress(AlreadyExists):  # it was taken, and the answer was lost
            await self._transport.create(EVENTS, namespace, orjson.dumps(event))


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
