"""When the same request is worth another try, and when that could do something twice.

A read, an apply, a merge and a delete may always be sent again. A create may only where the server has surely
done nothing: it was not reached, or it said that it has too much to do.
"""

from __future__ import annotations

import asyncio

import aiohttp

from .errors import ApiError, Unauthorized, Unreachable

TRIES = 4
FIRST_WAIT, WAIT_CAP = 0.1, 2.0
LONGEST_WAIT = 5.0  # a longer Retry-After is the caller's: a worker has better things to do
BROKEN = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
"""what aiohttp raises where no answer came"""


def may_try_again(method: str, error: ApiError) -> bool:
    """Whether the same request may be sent again without doing something twice, and may succeed soon."""
    if (error.retry_after or 0.0) > LONGEST_WAIT:
        return False
    if isinstance(error, Unauthorized):  # perhaps the token was just renewed
        return True
    if method == "POST":
        return error.status == 429 or (isinstance(error, Unreachable) and error.was_not_sent)
    return error.is_retryable


def unreachable(server: str, error: BaseException) -> Unreachable:
    """Say that no answer came, and whether the request was sent at all."""
    why = str(error) or type(error).__name__
    was_not_sent = isinstance(error, aiohttp.ClientConnectorError | ConnectionRefusedError)
    return Unreachable(f"{server}: no answer: {why}", was_not_sent=was_not_sent)
