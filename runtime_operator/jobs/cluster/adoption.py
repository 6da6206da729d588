"""Whether a job that is there already is taken, replaced or in the way: a decision from its object alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...api.names import FAILED
from ...conditions import is_finished, is_true
from ...errors import SpecError
from .request import ATTEMPT, DIGEST, OWNER, Request


@dataclass(frozen=True, slots=True)
class Adopt:
    """Take the job as it is."""


@dataclass(frozen=True, slots=True)
class Start:
    """Make the job, once what stands in its place is gone."""

    attempt: int = 0
    replaces: Mapping[str, Any] | None = None


def for_a_person(found: Mapping[str, Any] | None, request: Request) -> Adopt | Start:
    """An equal job that runs or has succeeded is taken; one that failed or has ended is replaced."""
    if found is None or found["metadata"].get("deletionTimestamp"):
        return Start(replaces=found)
    marks = _marks(found)
    if DIGEST not in marks:
        raise SpecError(f"TrainJob {request.name}: was made by somebody else; delete it or take another name")
    conditions = _conditions(found)
    if marks[DIGEST] == request.digest:
        return Start(replaces=found) if is_true(conditions, FAILED) else Adopt()
    if is_finished(conditions):
        return Start(replaces=found)
    raise SpecError(
        f"TrainJob {request.name}: runs already, with another spec; delete it or take another name"
    )


def for_an_owner(
    found: Mapping[str, Any] | None, request: Request, *, owner: str, retries: int
) -> Adopt | Start:
    """The owner's own job is taken; it is replaced when something else is asked for, or after a failure."""
    if found is None:
        return Start()
    marks = _marks(found)
    attempt = int(marks.get(ATTEMPT, 0))
    if marks.get(OWNER, "") != owner:
        whose = f"belongs to {marks[OWNER]}" if marks.get(OWNER) else "belongs to nobody"
        raise SpecError(f"TrainJob {request.name}: {whose}, not to {owner or 'nobody'}; take another name")
    if found["metadata"].get("deletionTimestamp"):
        return Start(attempt, found)
    if marks.get(DIGEST) != request.digest:
        return Start(replaces=found)
    if is_true(_conditions(found), FAILED) and attempt < retries:
        return Start(attempt + 1, found)
    return Adopt()


def _marks(found: Mapping[str, Any]) -> Mapping[str, str]:
    return found["metadata"].get("annotations") or {}


def _conditions(found: Mapping[str, Any]) -> Any:
    return (found.get("status") or {}).get("conditions") or ()
