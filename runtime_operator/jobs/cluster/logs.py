"""The log of one container, line by line to its end, whatever happens to the connection.

Each line comes with its time, so that after a cut the reading is taken up behind the last line that was
given: none is lost and none comes twice. A log that is silent for a while is opened anew, since a connection
that is dead looks the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ...kube.backoff import Backoff
from ...kube.errors import ApiError, BadRequest, NotFound
from ...kube.transport import Transport
from ..protocol import Line

SILENCE = 45.0
Moment = tuple[str, str]
"""seconds and their fraction, comparable as they stand"""


class LogReader:
    """Reads one container of one pod, and knows how far it has come."""

    def __init__(self, transport: Transport, namespace: str, pod: str, container: str) -> None:
        self._transport, self._namespace = transport, namespace
        self._pod, self._container = pod, container
        self._last: Moment = ("", "")
        self._since = ""
        self._given_at_last = 0

    async def read(self, *, tail: int | None = None) -> AsyncGenerator[Line, None]:
        """Yield what there is now."""
        options = {} if tail is None else {"tailLines": str(tail)}
        async for line in self._open(options):
            yield line

    async def follow(
        self, has_ended: Callable[[], bool], *, tail: int | None = None
    ) -> AsyncGenerator[Line, None]:
        """Yield every line, or what comes from the last few on, until the container has ended."""
        waits = Backoff(cap=2.0)
        while True:
            ended = has_ended()  # asked before reading: what comes until then is all
            options = {} if ended else {"follow": "true"}
            if tail is not None and not self._since:
                options["tailLines"] = str(tail)
            try:
                async for line in self._open(options):
                    waits.reset()
                    yield line
                if ended:
                    return
            except (BadRequest, NotFound):  # it has not started, or its kubelet does not know it yet
                if ended:
                    return
            except ApiError as error:
                if not error.is_retryable:
                    raise
            except TimeoutError:
                continue
            await asyncio.sleep(waits.next())

    async def _open(self, options: dict[str, str]) -> AsyncGenerator[Line, None]:
        """Read the log from where it was."""
        asked = {"container": self._container, "timestamps": "true", **options}
        if self._since:
            asked["sinceTime"] = self._since
        to_skip = self._given_at_last
        stream = self._transport.stream_log(self._namespace, self._pod, parameters=asked)
        async with aclosing(stream) as raw_lines:
            while True:
                async with asyncio.timeout(SILENCE):
                    raw = await anext(raw_lines, None)
                if raw is None:
                    return
                time, _, text = raw.decode(errors="replace").partition(" ")
                moment = _moment(time)
                if moment < self._last:
                    continue
                if moment == self._last and to_skip:
                    to_skip -= 1
                    continue
                self._note(moment, time)
                yield Line(self._pod, self._container, text)

    def _note(self, moment: Moment, time: str) -> None:
        self._given_at_last = self._given_at_last + 1 if moment == self._last else 1
        self._last, self._since = moment, time


def _moment(time: str) -> Moment:
    """A time of RFC 3339 with nanoseconds, whose zeros at the end are left out."""
    seconds, _, fraction = time.rstrip("Z").partition(".")
    return seconds, fraction.ljust(9, "0")
