"""What can go wrong between a source and us, sorted by what the engine does about it.

    FetchError   exit 1    asking again cannot help: not there, not allowed, not what was promised
    ├── NoRanges           the server sends whole files only
    ├── Expired            the token or the signed address has run out: `renew()`, then again
    Transient    exit 75   it may work in a moment: again after a back-off, or after what the source says
    └── Changed            the file at the source is another one by now: list anew, fetch that file anew

Messages begin with the address, cleaned of what is secret: `hidden.shown(address)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import KfpTrainerError, Retryable


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer behind a trouble, for a source that can say more about it."""

    status: int
    headers: Mapping[str, str]
    """by lower-case name"""
    url: str = field(repr=False)
    """who answered, after redirects; may hold a signed query"""


class FetchError(KfpTrainerError):
    """It cannot be fetched, however often one asks."""

    refusal: Refusal | None = None


class NoRanges(FetchError):
    """The server sends the whole file where a part of it was asked for."""


class Expired(FetchError):
    """What we showed to be let in is no longer good."""


class Transient(Retryable):
    """It did not work this time; `after` is what the source asked us to wait, 0 where it did not say."""

    refusal: Refusal | None = None

    def __init__(self, message: str, *, after: float = 0.0) -> None:
        super().__init__(message, after=after)


class Changed(Transient):
    """The file is not the one that was listed."""
