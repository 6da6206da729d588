"""Reads the log of a container: the last lines, or as it grows.

A line on disk is `TIME stdout|stderr F|P text`. Full lines are given as they were printed; parts of a long
line are joined again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_PAUSE = 0.1
_BLOCK = 64 * 1024


class Line(NamedTuple):
    """One line or part of a line that a container printed."""

    time: str
    stream: str
    full: bool
    text: bytes


def parse(data: bytes) -> Line:
    """Read one line of the file."""
    time, stream, tag, text = data.split(b" ", 3)
    return Line(time.decode(), stream.decode(), tag == b"F", text)


def read(path: Path, *, tail: int | None = None) -> list[Line]:
    """Return the lines of a log, or the last so many."""
    if tail is not None:
        return [parse(one) for one in _last(path, tail)]
    return [parse(one) for one in _complete(path, 0)[0]]


def tail_bytes(path: Path, *, lines: int) -> bytes:
    """Return the last lines as they were printed."""
    return b"".join(line.text + b"\n" * line.full for line in read(path, tail=lines))


async def follow(path: Path, over: Callable[[], bool], *, tail: int | None = None) -> AsyncIterator[Line]:
    """Give the lines of a log as they come, until `over` says that no more will."""
    offset = 0
    if tail is not None:
        lines = _last(path, tail)
        offset = path.stat().st_size if path.exists() else 0
        for one in lines:
            yield parse(one)
    while True:
        last_round = over()
        found, offset = _complete(path, offset)
        for one in found:
            yield parse(one)
        if last_round and not found:
            return
        if not found:
            await asyncio.sleep(_PAUSE)


def _complete(path: Path, offset: int) -> tuple[list[bytes], int]:
    """Return the complete lines from an offset on, and where they end."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n")[:-1], offset + end


def _last(path: Path, count: int) -> list[bytes]:
    """Return the last lines, read from the end."""
    if count == 0:
        return []
    data = b""
    for block in _blocks_from_end(path):
        data = block + data
        if data.count(b"\n") > count:
            break
    return data.split(b"\n")[:-1][-count:]


def _blocks_from_end(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                start = max(0, end - _BLOCK)
                file.seek(start)
                yield file.read(end - start)
                end = start
    except FileNotFoundError:
        return
