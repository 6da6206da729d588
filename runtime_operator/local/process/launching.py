"""Starts the launcher of a container, and waits for it whoever started it."""

from __future__ import annotations

import asyncio
import fcntl
import marshal
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .attempt import Attempt
from .launcher.main import LOCK, READY

_HERE = str(Path(__file__).parent)
_START = f"import sys; sys.path.insert(0, {_HERE!r}); from launcher.%s import main; main()"
_FIRST_FREE = 10
"""descriptors below are the launcher's own numbers"""


def launcher_command(program: str, title: str) -> list[str]:
    """Return the command of a launcher program: isolated, and without the packages of this environment."""
    return [sys.executable, "-I", "-S", "-c", _START % program, title]


def spawn(attempt: Attempt, config: Mapping[str, Any], *, title: str) -> tuple[int, int]:
    """Start a launcher; return its process and a descriptor that ends when the record tells of the start.

    The lock is taken before and handed over, so that there is no moment in which the launcher lives unseen.
    """
    lock = attempt.take_lock()
    assert lock is not None, f"{attempt.folder} is in use"
    ready, announce = os.pipe()
    trouble = os.open(
        attempt.folder / "launcher.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
    )
    try:
        streams = {2: trouble, LOCK: lock, READY: announce}
        return spawn_program(launcher_command("main", title), marshal.dumps(dict(config)), streams), ready
    finally:
        for descriptor in (lock, announce, trouble):
            os.close(descriptor)


def spawn_program(command: list[str], told: bytes, streams: Mapping[int, int]) -> int:
    """Start a launcher program in a session of its own, tell it what to do, and return its process.

    `streams` are the descriptors it gets, by their number there.
    """
    hear, tell = os.pipe()
    wanted = {0: hear, **streams}
    high = {number: fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for number, one in wanted.items()}
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, one, number) for number, one in high.items()]
    try:
        process = os.posix_spawn(command[0], command, {}, file_actions=actions, setsid=True)
    finally:
        for descriptor in (hear, *high.values()):
            os.close(descriptor)
    with suppress(BrokenPipeError), open(tell, "wb") as pipe:
        pipe.write(told)
    return process


async def read_all(descriptor: int) -> bytes:
    """Read a pipe to its end and close it."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    parts: list[bytes] = []
    done: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        data = os.read(descriptor, 4096)
        parts.append(data)
        if not data:
            loop.remove_reader(descriptor)
            done.set_result(None)

    loop.add_reader(descriptor, read)
    try:
        await done
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return b"".join(parts)


class Living:
    """A process that may be somebody else's child: its end and the way to signal it."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._handle = -1
        if hasattr(os, "pidfd_open"):
            try:
                self._handle = os.pidfd_open(process)
            except ProcessLookupError:  # ended a moment ago: the lock tells the rest
                self._process = 0

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to this very process; nothing happens when it has ended."""
        with suppress(ProcessLookupError):
            if self._handle >= 0:
                signal.pidfd_send_signal(self._handle, number)
            elif self._process:
                os.kill(self._process, number)

    async def exited(self) -> int:
        """Wait for the end of a child of ours; return its wait status."""
        if self._handle >= 0:
            await self._readable()
            return os.waitpid(self._process, 0)[1]
        return (await asyncio.to_thread(os.waitpid, self._process, 0))[1]

    async def ended(self, attempt: Attempt) -> None:
        """Wait until the process has ended and nothing of its container lives."""
        if self._handle >= 0:
            await self._readable()
        if attempt.is_alive():
            await _lock_free(attempt.lock)
        if self._process:
            with suppress(ChildProcessError):
                os.waitpid(self._process, 0)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._handle, _settle, done)
        try:
            await done
        finally:
            loop.remove_reader(self._handle)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._handle >= 0:
            os.close(self._handle)


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


async def _lock_free(path: Path) -> None:
    """Wait for a lock in a thread of its own, which does not keep the runner from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def wait() -> None:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, done)

    threading.Thread(target=wait, daemon=True).start()
    await done
