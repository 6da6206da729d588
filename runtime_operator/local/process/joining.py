"""Runs a command inside a living container: exec probes, exec hooks, `exec`."""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .isolation import Isolation
from .launcher.kernel import CLONE_NEWNET
from .launching import Living, launcher_command, spawn_program
from .termination import exit_code

_LAST_WORDS = 4096
_READ = 64 * 1024


class _Output:
    """Keeps the last of what a process prints, without waiting for its end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._text = b""
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._take)

    def _take(self) -> None:
        data = os.read(self._descriptor, _READ)
        self._text = (self._text + data)[-_LAST_WORDS:]
        if not data:
            asyncio.get_running_loop().remove_reader(self._descriptor)

    def close(self) -> str:
        """Take what is left, and return the last words."""
        asyncio.get_running_loop().remove_reader(self._descriptor)
        with suppress(BlockingIOError):  # something in the container still holds the other end
            while data := os.read(self._descriptor, _READ):
                self._text = (self._text + data)[-_LAST_WORDS:]
        os.close(self._descriptor)
        return self._text.decode(errors="replace")


async def run_inside(
    first: int,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    way: Isolation,
    network: bool,
    limit: float | None,
) -> tuple[int, str]:
    """Return (exit code, last words) of a command; TimeoutError when it takes longer than the limit.

    `first` is the container's process 1 as this machine counts.
    """
    config = {
        "argv": list(argv),
        "env": dict(env),
        "cwd": cwd,
        "first": first,
        "namespaces": way.flags | (CLONE_NEWNET if network else 0),
    }
    process, output = _spawn(config)
    joined, printed = Living(process), _Output(output)
    status = None
    try:
        async with asyncio.timeout(limit):
            status = await joined.exited()
    finally:
        if status is None:
            joined.signal(signal.SIGTERM)
            await joined.exited()
        joined.close()
        words = printed.close()
    return exit_code(status)[0], words


def _spawn(config: dict[str, Any]) -> tuple[int, int]:
    """Start the program that joins; return its process and its output."""
    output, say = os.pipe()
    try:
        command = launcher_command("join", f"in {config['first']}")
        return spawn_program(command, marshal.dumps(config), {1: say, 2: say}), output
    finally:
        os.close(say)
