"""Whether an answer is about the very bytes that were asked for, and how long a refusal asks us to wait.

A validator is an ETag as it stands, or `modified:` and the date where a server has no ETags. Where it differs
from the one that was listed the file is another one, and what has come of it is of no use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from .hidden import shown
from .troubles import Changed, FetchError, NoRanges, Transient
from .wire import Answer

MODIFIED = "modified:"
_MOST_DIGITS = 18
_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")


def retry_after(value: str | None, now: float) -> float:
    """How many seconds a Retry-After header asks for; 0 where it says nothing we understand."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:_MOST_DIGITS])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def number(text: str | None) -> int | None:
    """A count of bytes as a header says it; None where it says none that can be."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def same_validator(listed: str, headers: Mapping[str, str]) -> bool:
    """Whether an answer is about the file that was listed; an answer that says nothing is not doubted."""
    if not listed:
        return True
    if listed.startswith(MODIFIED):
        found = headers.get("last-modified", "")
        return not found or found == listed.removeprefix(MODIFIED)
    found = headers.get("etag", "")
    return not found or found.removeprefix("W/").strip('"') == listed.removeprefix("W/").strip('"')


def check_answer(
    answer: Answer,
    url: str,
    start: int,
    stop: int | None,
    etag: str,
    size: int | None,
    *,
    whole: bool,
) -> None:
    """Refuse an answer that is not about the bytes that were asked for."""
    headers = answer.headers
    if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        encoding = headers["content-encoding"]
        raise FetchError(
            f"{shown(url)}: is sent as {encoding} though it was asked for as it is; offer it uncompressed"
        )
    if not same_validator(etag, headers):
        raise Changed(f"{shown(url)}: the file changed while it was fetched")
    if whole:
        length = answer.length
        if answer.status != 200 or (size is not None and length is not None and length != size):
            raise Changed(
                f"{shown(url)}: has {'other' if length is None else length} bytes where {size} were listed"
            )
        return
    if answer.status != 206:
        raise NoRanges(
            f"{shown(url)}: answers {answer.status} to a request for a range, though it offered ranges"
        )
    first, last, total = _content_range(headers.get("content-range", ""), url)
    if (
        first != start
        or (stop is not None and last + 1 > stop)
        or (size is not None and total not in (None, size))
    ):
        raise Changed(f"{shown(url)}: sends other bytes than were asked for ({headers['content-range']})")


def _content_range(text: str, url: str) -> tuple[int, int, int | None]:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise Transient(f"{shown(url)}: a range came with Content-Range {text[:80]!r}, which is none")
    first, last, total = found.groups()
    return int(first), int(last), None if total == "*" else int(total)


def conditions(etag: str) -> dict[str, str]:
    """The headers that let the server say itself that the file is another one."""
    if etag.startswith('"'):
        return {"If-Match": etag}
    if etag.startswith(MODIFIED):
        return {"If-Unmodified-Since": etag.removeprefix(MODIFIED)}
    return {}
