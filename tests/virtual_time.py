"""An event loop whose time stands still while there is work and jumps when there is none.

A minute of sleep takes no time, so tests of deadlines, back-offs and resyncs are exact and fast. Waiting for
what nothing will ever bring is an error at once instead of a test that hangs.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class _Clockwork(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Moves the time on instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("everybody waits for what never comes")
        self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time, which begins at 0."""

    def __init__(self) -> None:
        self._clockwork = _Clockwork()
        super().__init__(self._clockwork)

    def time(self) -> float:
        return self._clockwork.now


def now() -> datetime:
    """The date and time of the running loop."""
    return BEGIN + timedelta(seconds=asyncio.get_running_loop().time())


def run_virtually(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def in_virtual_time(
    test: Callable[Given, Coroutine[Any, Any, Result]],
) -> Callable[Given, Result]:
    """Make an asynchronous test one that runs in virtual time."""

    @functools.wraps(test)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        return run_virtually(test(*args, **kwargs))

    return run


async def until(condition: Callable[[], object], *, limit: float = 600.0, step: float = 0.1) -> float:
    """Wait until something is true, looking every `step`; return how long it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not condition():
        if loop.time() - began > limit:
            raise AssertionError(f"not within {limit:.0f} s: {condition}")
        await asyncio.sleep(step)
    return loop.time() - began
