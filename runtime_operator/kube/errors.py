"""What an API server's refusal means to the caller: gone, in the way, not allowed, or worth another try.

One class a meaning, made from the answer's Status object; `is_retryable` says whether the very same request
may succeed later, and `retry_after` how long the server asked to wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ..errors import KfpTrainerError

WORTH_ANOTHER_TRY = frozenset({0, 408, 425, 429, 500, 502, 503, 504})
PATIENCE_WITH_TROUBLE = 1.0
"""API servers that start ask for five seconds and are ready in one; one that is overloaded answers 429"""
LONGEST_FOREIGN_TEXT = 300  # an answer that is no Status may be a whole page


class ApiError(KfpTrainerError):
    """The API server refused, or gave no answer (`status` 0)."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message
        self.retry_after = retry_after
        self.details: Mapping[str, Any] = details or {}

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in WORTH_ANOTHER_TRY


class Unreachable(ApiError):
    """No answer came: refused, cut, or silent for too long. A write may have happened all the same."""

    def __init__(self, message: str, *, was_not_sent: bool = False) -> None:
        super().__init__(0, "Unreachable", message)
        self.was_not_sent = was_not_sent
        """there was no connection, so the server cannot have done anything"""


class Silence(Unreachable):
    """A stream was open, and nothing came for so long that the connection may be dead; or all is quiet."""


class BadRequest(ApiError):
    """The request itself is wrong, or an admission webhook said so (400)."""


class Unauthorized(ApiError):
    """The API server does not know who asks (401)."""


class Forbidden(ApiError):
    """Not allowed, by RBAC, by quota or by an admission webhook (403)."""


class NotFound(ApiError):
    """No such object, or no such kind (404)."""


class Conflict(ApiError):
    """The object is not what the caller thought: another version or uid (409)."""


class AlreadyExists(ApiError):
    """There is an object of this name (409 of a create)."""


class Gone(ApiError):
    """The version asked for is too old: list again (410)."""


class Invalid(ApiError):
    """The object breaks a rule of its kind (422)."""


class TooMany(ApiError):
    """The API server wants to be asked later (429)."""


class ServerTrouble(ApiError):
    """The API server, or a webhook that it asked, failed (5xx)."""


CLASSES: Mapping[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooMany,
}


def api_error(
    status: int, reason: str, message: str, *, retry_after: float | None = None, details: Any = None
) -> ApiError:
    """Make the error whose class tells its meaning."""
    made = CLASSES.get(status, ServerTrouble if status >= 500 else ApiError)
    if made is ServerTrouble and retry_after is not None:
        retry_after = min(retry_after, PATIENCE_WITH_TROUBLE)
    if status == 409 and reason == "AlreadyExists":
        made = AlreadyExists
    return made(status, reason, message, retry_after=retry_after, details=details)


def error_of_status(status: Mapping[str, Any], *, retry_after: float | None = None) -> ApiError:
    """Make the error of a Status object, as an answer or an ERROR event of a watch carries it."""
    details = status.get("details") or {}
    if retry_after is None and details.get("retryAfterSeconds"):
        retry_after = float(details["retryAfterSeconds"])
    return api_error(
        int(status.get("code") or 500),
        str(status.get("reason") or ""),
        str(status.get("message") or "the API server gave no reason"),
        retry_after=retry_after,
        details=details,
    )


def error_of_answer(code: int, body: bytes, *, retry_after: str | None = None) -> ApiError:
    """Make the error of an HTTP answer, whose body is a Status if an API server wrote it."""
    seconds = float(retry_after) if retry_after and retry_after.isdecimal() else None
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        told = None
    if isinstance(told, dict) and told.get("kind") == "Status":
        return error_of_status({**told, "code": code}, retry_after=seconds)
    text = body[:LONGEST_FOREIGN_TEXT].decode(errors="replace").strip()
    return api_error(code, "", text or f"answered {code} without a word", retry_after=seconds)
