"""One connection that speaks HTTP/1.1: a request goes out, the head of its answer comes in.

The standard library makes a mail message of every head, which for many small files is more work than all
the rest; this reads a head into a dict. Its rules are those of RFC 9112, on the strict side: what two readers
could take for two different answers is no answer.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from io import BufferedReader, RawIOBase
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 1 << 15
_LONGEST_LINE = 1 << 16
_MOST_LINES = 256
_MOST_INTERIM = 32
_END_OF_HEAD = (b"\r\n", b"\n", b"")
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: ([^\r\n]*))?\r?\n")
_FIELDS = re.compile(r"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*\r?\n)*")
_LENGTH = re.compile(r"[0-9]{1,18}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NO_BODY = (204, 304)


class BadRequest(Exception):
    """A request that nobody may send; the text names the header and not what it holds."""


@dataclass(slots=True)
class Answer:
    """The head of an answer, and where its body is read from."""

    status: int
    reason: str
    headers: dict[str, str]
    """by lower-case name; what comes twice is joined by commas"""
    length: int | None
    """of the body; None where the head does not say it"""
    chunked: bool
    will_close: bool
    file: BufferedReader


class _Incoming(RawIOBase):
    """What a socket receives, up to a point in time: a head that trickles is no better than silence."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.until = inf

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what has arrived, or wait for it."""
        if time.monotonic() > self.until:
            raise TimeoutError("the head of the answer only trickles")
        return self._sock.recv_into(buffer)


class Wire:
    """An open connection, used by one thread at a time."""

    def __init__(self, sock: socket.socket, *, patience: float) -> None:
        self.sock = sock
        self._patience = patience
        self._incoming = _Incoming(sock)
        self._file: BufferedReader = BufferedReader(self._incoming, _BUFFER)

    def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send a request, and read its answer up to the body."""
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        _check(lines)
        self.sock.sendall("\r\n".join([*lines, "\r\n"]).encode("latin-1") + (body or b""))
        self._incoming.until = time.monotonic() + self._patience
        answer = self._answer(method)
        self._incoming.until = inf
        return answer

    def close(self) -> None:
        """Nothing more is asked."""
        self._file.close()
        self.sock.close()

    def _answer(self, method: str) -> Answer:
        for _ in range(_MOST_INTERIM):
            first, fields = self._head()
            found = _STATUS.fullmatch(first)
            if found is None:
                raise HTTPException("what came is no HTTP")
            minor, status, reason = found.groups()
            if int(status) >= 200:
                return self._made(method, int(status), reason or "", _by_name(fields), new=minor == "1")
        raise HTTPException("promises of an answer, and none")

    def _head(self) -> tuple[str, str]:
        """The first line of a head, and the fields up to the empty line."""
        readline, lines = self._file.readline, []
        for _ in range(_MOST_LINES):
            line = readline(_LONGEST_LINE)
            if line in _END_OF_HEAD:
                break
            lines.append(line)
        else:
            raise HTTPException(f"more than {_MOST_LINES} headers")
        if not lines:
            raise ConnectionResetError("closed without an answer")
        if not line:
            raise HTTPException("the connection ended in the head")
        return lines[0].decode("latin-1"), b"".join(lines[1:]).decode("latin-1")

    def _made(self, method: str, status: int, reason: str, headers: dict[str, str], *, new: bool) -> Answer:
        options = headers.get("connection", "").lower()
        will_close = "close" in options or (not new and "keep-alive" not in options)
        if method == "HEAD" or status in _NO_BODY:
            return Answer(status, reason, headers, 0, False, will_close, self._file)
        coding = headers.get("transfer-encoding", "").lower()
        if coding not in ("", "identity", "chunked"):
            raise HTTPException(f"a body coded as {coding[:40]}")
        if coding == "chunked":
            return Answer(status, reason, headers, None, True, will_close, self._file)
        length = _length(headers.get("content-length"))
        return Answer(status, reason, headers, length, False, will_close or length is None, self._file)


def _by_name(fields: str) -> dict[str, str]:
    if _FIELDS.fullmatch(fields) is None:
        raise HTTPException("a header that is none")
    headers: dict[str, str] = {}
    for line in fields.split("\n")[:-1]:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _length(text: str | None) -> int | None:
    if text is None:
        return None
    given = {each.strip() for each in text.split(",")}
    one = given.pop()
    if given or _LENGTH.fullmatch(one) is None:
        raise HTTPException(f"a length of {text[:40]!r}")
    return int(one)


def _check(lines: list[str]) -> None:
    """Refuse what would be read as another request."""
    for line in lines:
        if _CONTROL.search(line) or not _is_latin(line):
            what = line.partition(":")[0] if line is not lines[0] else "the address"
            raise BadRequest(f"{what} has a line break or a character that no header can hold")


def _is_latin(text: str) -> bool:
    return text.isascii() or max(text) <= "\xff"
