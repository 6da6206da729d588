"""The body of an answer as a stream that is exactly as long as its headers say.

A body that ends early is Transient and never taken for whole.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from .chunks import Chunks
from .hidden import shown
from .troubles import FetchError, Transient
from .wire import Answer

_PIECE = 1 << 16


class Finished(Protocol):
    """What becomes of the connection."""

    def __call__(self, *, reusable: bool) -> None:
        """Take the connection back."""


class Body:
    """What `source.Reader` asks for, over a response."""

    def __init__(self, answer: Answer, finished: Finished, url: str) -> None:
        self._answer = answer
        self._finished: Finished | None = finished
        self._url = url
        self._left = answer.length
        """None for a chunked body, which says itself where it ends"""
        self._chunks = Chunks(answer.file) if answer.chunked else None
        if self._left is None and self._chunks is None:
            self._give_back(reusable=False)
            raise FetchError(
                f"{self._name}: is sent without a length, so that nobody can tell whether it is whole"
            )

    def __enter__(self) -> Body:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def readinto(self, buffer: memoryview, /) -> int:
        """Read what has arrived, at most as much as the buffer holds; 0 at the end."""
        if self._left is None:
            return self._read_chunked(buffer)
        if self._left == 0:
            self._end()
            return 0
        count = self._answer.file.readinto1(buffer[: self._left])
        if not count:
            raise Transient(f"{self._name}: the connection ended {self._left} bytes too early")
        self._left -= count
        if self._left == 0:
            self._end()
        return count

    def header(self, name: str) -> str:
        """A header of the answer; empty where it has none of that name."""
        return self._answer.headers.get(name, "")

    def read_all(self, most: int) -> bytes:
        """Read a document of at most `most` bytes."""
        parts: list[bytes] = []
        total = 0
        buffer = memoryview(bytearray(_PIECE))
        while count := self._read_some(buffer):
            total += count
            if total > most:
                raise FetchError(f"{self._name}: is longer than {most} bytes, which no index is")
            parts.append(bytes(buffer[:count]))
        return b"".join(parts)

    def close(self) -> None:
        """Nothing more is read; a connection in the middle of a body is of no more use."""
        self._give_back(reusable=False)

    @property
    def _name(self) -> str:
        return shown(self._url)

    def _read_some(self, buffer: memoryview) -> int:
        try:
            return self.readinto(buffer)
        except TimeoutError:
            raise Transient(f"{self._name}: nothing came any more") from None
        except OSError as error:
            raise Transient(f"{self._name}: the connection broke ({error.strerror or error})") from None

    def _read_chunked(self, buffer: memoryview) -> int:
        if self._chunks is None:
            return 0
        try:
            count = self._chunks.readinto1(buffer)
        except ValueError:
            raise Transient(f"{self._name}: the connection ended in the middle") from None
        if not count:
            self._end()
        return count

    def _end(self) -> None:
        self._give_back(reusable=not self._answer.will_close)

    def _give_back(self, *, reusable: bool) -> None:
        finished, self._finished = self._finished, None
        if finished is not None:
            finished(reusable=reusable)
