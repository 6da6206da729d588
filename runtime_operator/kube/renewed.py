"""Files that somebody else renews: a ServiceAccount's token, a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ..errors import SetupError
from .cluster import Headers
from .identity import bearer

Clock = Callable[[], float]
LOOK_EVERY = 30.0


class RenewedFile:
    """The content of a file, at most half a minute old."""

    def __init__(self, path: Path, *, clock: Clock = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._content, self._looked = "", float("-inf")

    def content(self) -> str:
        """Return its content without blanks around it."""
        if self._clock() - self._looked >= LOOK_EVERY:
            try:
                self._content = self._path.read_text().strip()
            except OSError as error:
                if not self._content:
                    raise SetupError(f"{self._path}: cannot be read: {error.strerror}") from error
            self._looked = self._clock()
        return self._content

    def forget(self) -> None:
        """Look at it again the next time."""
        self._looked = float("-inf")


class TokenFile:
    """Who we are, by a bearer token in a file."""

    def __init__(self, path: Path, *, extra: Headers = (), clock: Clock = time.monotonic) -> None:
        self._file, self._extra = RenewedFile(path, clock=clock), extra

    async def headers(self) -> Headers:
        """Return the token as it stands in the file."""
        return bearer(self._file.content()) + self._extra

    def refused(self) -> None:
        """Read the file again: it may have been renewed."""
        self._file.forget()
