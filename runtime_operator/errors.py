"""Every error a user can meet, on one page.

    KfpTrainerError          exit 1   the root; never raised itself
    ├── SpecError            exit 2   a document is wrong: one FieldError a mistake, all of them at once
    ├── SetupError           exit 3   this machine or installation lacks something
    ├── JobFailed            exit 1   a job ended badly; says what died, where and why
    ├── Retryable            exit 75  it may work later: `after` says in how many seconds
    └── Fatal                exit 70  our own mistake; please report it

A message is one sentence: where, what is wrong, the value that was given, what to do. Lower case, no
full stop, so that it reads well behind a path. Only `cli.main` turns an error into text and an exit code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNSAID = {
    "FieldValueRequired": "required: give it a value",
    "FieldValueDuplicate": "is there twice: leave one out",
}
"""what Kubernetes tells by the kind of a mistake alone, without a detail"""


class KfpTrainerError(Exception):
    """The root of the tree: whatever this project raises on purpose."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class FieldError:
    """One mistake in a document, in the form Kubernetes uses: where, which rule, what to do."""

    field: str
    """path of the field, as in `spec.trainer.numNodes`; empty when it concerns the whole document"""
    detail: str
    """the rule that is broken, in words"""
    type: str = "FieldValueInvalid"
    """the constant of Kubernetes' field.Error: FieldValueInvalid, FieldValueRequired …"""
    object: str = ""
    """the object it stands in, as in `TrainJob/bert`"""

    def __str__(self) -> str:
        detail = self.detail or UNSAID.get(self.type, "")
        return f"{self.field}: {detail}" if self.field else detail


class SpecError(KfpTrainerError):
    """A document breaks a rule; the person who wrote it can mend it."""

    exit_code = 2

    def __init__(self, errors: Sequence[FieldError] | str, *, warnings: Sequence[str] = ()) -> None:
        self.errors = (FieldError("", errors),) if isinstance(errors, str) else tuple(errors)
        self.warnings = tuple(warnings)
        super().__init__("\n".join(str(error) for error in self.errors))


class SetupError(KfpTrainerError):
    """Something this command needs is not on this machine; the message says how to get it."""

    exit_code = 3


class JobFailed(KfpTrainerError):
    """A job ended without what it was for."""


class Retryable(KfpTrainerError):
    """The other side could not answer now."""

    exit_code = 75

    def __init__(self, message: str, *, after: float) -> None:
        super().__init__(message)
        self.after = after


class Fatal(KfpTrainerError):
    """A state that our own code should have made impossible."""

    exit_code = 70
