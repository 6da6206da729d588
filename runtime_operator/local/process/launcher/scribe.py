"""Copies what a container prints into its log, one line a time and stamped, as a container runtime does.

A line is `2026-01-02T03:04:05.678901234Z stdout F text`; F is a full line, P a part of one longer than the
limit. What cannot be written because the disk is full is dropped, never held: the container must not stall.
"""

from __future__ import annotations

import os
import time

LIMIT = 16 * 1024
_READ = 64 * 1024


def stamp(nanoseconds: int) -> bytes:
    """Write a moment as RFC 3339 with nanoseconds, in UTC."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return b"%s.%09dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode(), rest)


class Stream:
    """One of the two streams of a container, and the line it is in the middle of."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.descriptor = descriptor
        self._name = b" " + name.encode()
        self._rest = b""

    def take(self) -> bytes | None:
        """Read what is there and return the lines of the log that it makes; None at the end."""
        data = os.read(self.descriptor, _READ)
        head = stamp(time.time_ns()) + self._name
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        out = [self._line(head, line, b" F ") for line in lines]
        while len(self._rest) > LIMIT:
            out.append(head + b" P " + self._rest[:LIMIT] + b"\n")
            self._rest = self._rest[LIMIT:]
        return b"".join(out)

    def last(self) -> bytes:
        """Return the line that never got its end."""
        return self._line(stamp(time.time_ns()) + self._name, self._rest, b" F ") if self._rest else b""

    @staticmethod
    def _line(head: bytes, line: bytes, tag: bytes) -> bytes:
        parts = []
        while len(line) > LIMIT:
            parts.append(head + b" P " + line[:LIMIT] + b"\n")
            line = line[LIMIT:]
        return b"".join([*parts, head, tag, line, b"\n"])


class Log:
    """The file of a container's log."""

    def __init__(self, path: str) -> None:
        self.error = 0
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, data: bytes) -> None:
        """Append; remember the number of the error if that fails."""
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.error = error.errno or 0
