"""Calls what is asynchronous from ordinary code: an event loop in a thread of its own.

Whoever waits here can be interrupted: the signal's handler runs, and what was asked for is called off when
the wait itself ends by an exception.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")


class Bridge:
    """One loop for all calls, so that connections stay open between them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="kfp-trainer-cluster", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the result of a coroutine."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter a context, and leave it when this program ends."""
        entered = self.run(context.__aenter__())
        atexit.register(lambda: self.run(context.__aexit__(None, None, None)))
        return entered

    def iterate(self, items: AsyncGenerator[T, None]) -> Iterator[T]:
        """Yield what an asynchronous generator yields; it is closed when nobody asks any more."""
        end = object()

        async def following() -> T | object:
            return await anext(items, end)

        try:
            while (item := self.run(following())) is not end:
                yield item  # type: ignore[misc]
        finally:
            self.run(items.aclose())
