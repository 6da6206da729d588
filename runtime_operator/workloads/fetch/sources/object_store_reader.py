"""Reading an object through obstore itself, and sorting what obstore says went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..troubles import Changed, Expired, FetchError, Transient

_CHUNK = 1 << 20
_STATUS = re.compile(r"status code: (\d{3})")
_ELSEWHERE = ("PermanentRedirect", "AuthorizationHeaderMalformed")
_CODE = re.compile(r"<Code>([A-Za-z0-9]+)</Code>")


class Streamed:
    """A part of an object as a stream."""

    def __init__(self, store: Any, key: str, start: int, stop: int | None, etag: str, *, text: str) -> None:
        import obstore

        options: Any = {"range": {"offset": start} if stop is None else (start, stop)}
        if etag:
            options["if_match"] = etag
        self._text = text
        self._chunks: Iterator[Any] = iter(())
        if stop is None or stop > start:
            self._chunks = iter(obstore.get(store, key, options=options).stream(min_chunk_size=_CHUNK))
        self._rest = memoryview(b"")

    def readinto(self, buffer: memoryview, /) -> int:
        """Copy what has come; 0 at the end."""
        if not self._rest:
            with told(self._text):
                self._rest = memoryview(next(self._chunks, b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """Let the stream go."""
        self._chunks, self._rest = iter(()), memoryview(b"")


@contextmanager
def told(text: str) -> Iterator[None]:
    """Turn what obstore raises into a trouble."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise _trouble(text, error) from None


def _trouble(text: str, error: Exception) -> FetchError | Transient:
    said = str(error)
    first = said.partition("\n")[0].partition(": <?xml")[0]
    code = found.group(1) if (found := _CODE.search(said)) else ""
    why = _why(first) + (f" ({code})" if code else "")
    if "without LOCATION" in said or code in _ELSEWHERE:
        return FetchError(f"{text}: the bucket is in another region, set REGION to its own")
    status = int(found.group(1)) if (found := _STATUS.search(said)) else 0
    name = type(error).__name__
    if name == "PreconditionError" or status in (412, 416):
        return Changed(f"{text}: {why}, the object changed while it was fetched")
    if isinstance(error, FileNotFoundError) or status == 404:
        return FetchError(f"{text}: is not there, mind the spelling, the bucket and the endpoint")
    if status in (401, 403) or name in ("PermissionDeniedError", "UnauthenticatedError"):
        return Expired(f"{text}: {why}, check the credentials and what they may read")
    if status in (408, 429) or status >= 500 or not status:
        return Transient(f"{text}: {why}")
    return FetchError(f"{text}: {why}")


def _why(first: str) -> str:
    """What obstore says, without the address it asked."""
    status = re.search(r"status code: (\d{3} [A-Za-z ]+)", first)
    return status.group(1).strip() if status else re.sub(r"https?://\S+", "the store", first)[:200]
