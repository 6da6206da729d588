"""Runs a command inside a living container: exec probes, exec hooks, `exec`."""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .isolation import Isolation
from .launcher.join import INPUT
from .launcher.kernel import CLONE_NEWNET
from .launching import Living, launcher_command, spawn_program
from .termination import exit_code

_LAST_WORDS = 4096
_READ = 64 * 1024


@dataclass(frozen=True, slots=True)
class Inside:
    """Where and as what a command joins a container."""

    first: int
    """the container's process 1 as this machine counts"""
    env: Mapping[str, str]
    cwd: str
    way: Isolation
    network: bool
    identity: Mapping[str, Any]

    def told(self, argv: Sequence[str], *, reads: bool) -> bytes:
        """Return what the program that joins is told."""
        config = {
            "argv": list(argv),
            "env": dict(self.env),
            "cwd": self.cwd,
            "first": self.first,
            "identity": dict(self.identity),
            "input": reads,
            "namespaces": self.way.flags | (CLONE_NEWNET if self.network else 0),
        }
        return marshal.dumps(config)


class Session:
    """A command inside a container that somebody talks to, and our ends of its streams."""

    def __init__(self, process: int, *, reads: int, says: int, warns: int) -> None:
        self.reads, self.says, self.warns = reads, says, warns
        """descriptors; -1 where there is none, and one for all three is a terminal"""
        self._living = Living(process)

    async def ended(self) -> int:
        """Wait for the end of the command; return its exit code."""
        return exit_code(await self._living.exited())[0]

    def stop(self) -> None:
        """End the command and what it started."""
        self._living.signal(signal.SIGTERM)

    def close_input(self) -> None:
        """Say that nothing more comes."""
        if self.reads not in (-1, self.says):
            os.close(self.reads)
            self.reads = -1

    def close(self) -> None:
        """Give every descriptor back."""
        self.close_input()
        for descriptor in {self.says, self.warns} - {-1}:
            os.close(descriptor)
        self._living.close()


def open_session(inside: Inside, argv: Sequence[str], *, reads: bool, terminal: bool) -> Session:
    """Start a command that somebody talks to."""
    command = launcher_command("join", f"in {inside.first}")
    if terminal:
        ours, theirs = os.openpty()
        try:
            streams = {1: theirs, 2: theirs, INPUT: theirs}
            process = spawn_program(command, inside.told(argv, reads=True), streams)
        finally:
            os.close(theirs)
        return Session(process, reads=ours, says=ours, warns=-1)
    (hear, reads_end), (says, out), (warns, err) = os.pipe(), os.pipe(), os.pipe()
    try:
        streams = {1: out, 2: err, INPUT: hear}
        process = spawn_program(command, inside.told(argv, reads=reads), streams)
    finally:
        for descriptor in (hear, out, err):
            os.close(descriptor)
    session = Session(process, reads=reads_end, says=says, warns=warns)
    if not reads:
        session.close_input()
    return session


def start_on(inside: Inside, argv: Sequence[str], out: int, err: int) -> Session:
    """Start a command that writes to streams of somebody else's."""
    command = launcher_command("join", f"in {inside.first}")
    process = spawn_program(command, inside.told(argv, reads=False), {1: out, 2: err})
    return Session(process, reads=-1, says=-1, warns=-1)


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


async def run_inside(inside: Inside, argv: Sequence[str], *, limit: float | None) -> tuple[int, str]:
    """Return (exit code, last words) of a command; TimeoutError when it takes longer than the limit."""
    process, output = _spawn(inside, argv)
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


def _spawn(inside: Inside, argv: Sequence[str]) -> tuple[int, int]:
    """Start the program that joins; return its process and its output."""
    output, say = os.pipe()
    try:
        command = launcher_command("join", f"in {inside.first}")
        return spawn_program(command, inside.told(argv, reads=False), {1: say, 2: say}), output
    finally:
        os.close(say)
