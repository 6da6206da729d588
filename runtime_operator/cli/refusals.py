"""What is wrong with the documents of a dry run, as a person reads it: object, path, value, rule.

Kubernetes names the value beside the rule, so many rules leave it out. Here it is added where the rule is a
list of what may stand there: who has mistyped a word sees at once which.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..api.paths import NOT_SUPPORTED, value_at
from ..errors import FieldError
from ..render.dry_run import Outcome, Review


def refusals(parts: Iterable[Review | Outcome]) -> list[FieldError]:
    """Return what is wrong, each mistake once."""
    return list(dict.fromkeys(_with_value(error, each) for each in parts for error in each.errors))


def with_object(error: FieldError) -> FieldError:
    """Return the error with its object before the path, for files that hold several."""
    return replace(error, field=": ".join(part for part in (error.object, error.field) if part))


def _with_value(error: FieldError, part: Review | Outcome) -> FieldError:
    review = part.review if isinstance(part, Outcome) else part
    value = value_at(review.stored, error.field) if error.type == NOT_SUPPORTED else None
    if not isinstance(value, str) or "got " in error.detail:
        return error
    return replace(error, detail=f"{error.detail}; got {value!r}")
