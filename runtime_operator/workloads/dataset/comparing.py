"""What only all rows together show: twins, contradictions, leaks into the held-out rows, too few rows."""

from __future__ import annotations

from .findings import Findings
from .inspection import Seen
from .records import Fault, place
from .sameness import shared, twins

FEW = 100
ENOUGH_TO_DIFFER = 10
TRAIN, EVAL, TEST = "train", "eval", "test"


def find_twins(seen: Seen, findings: Findings) -> None:
    """Rows of one split that stand there twice, exactly, nearly, or with another answer."""
    exact = dict(twins(seen.prints.exact))
    loose = dict(twins(seen.prints.loose))
    for at, first in exact.items():
        _note(seen, at, findings, "duplicate", f"is the same as {_place(seen, first)}")
    for at, first in loose.items():
        if at not in exact:
            detail = f"is the same as {_place(seen, first)} but for case and white space"
            _note(seen, at, findings, "near-duplicate", detail)
    for at, first in twins(seen.prints.prompt):
        if at not in loose:
            detail = f"has the prompt of {_place(seen, first)} and another answer"
            _note(seen, at, findings, "contradiction", detail)


def find_leaks(held: Seen, train: Seen, findings: Findings) -> None:
    """Held-out rows, and held-out prompts, that stand in the training rows."""
    leaked = set()
    for at, other in shared(held.prints.loose, train.prints.loose):
        leaked.add(at)
        _note(held, at, findings, "leak", f"stands in the training rows too ({_place(train, other)})")
    for at, other in shared(held.prints.prompt, train.prints.prompt):
        if at not in leaked:
            detail = f"has the prompt of a training row ({_place(train, other)})"
            _note(held, at, findings, "leaked-prompt", detail)


def judge_size(train: Seen, findings: Findings, *, least: int, name: str) -> None:
    """Too few rows to train on, or answers among which there is nothing to learn."""
    usable = train.rows - sum(train.skipped)
    if usable < least:
        findings.add(
            Fault("too-few-rows", f"has {usable} usable rows to train on, at least {least} are asked for"),
            name,
        )
    elif usable < FEW:
        findings.add(Fault("few-rows", f"has {usable} usable rows to train on"), name)
    if usable >= ENOUGH_TO_DIFFER and len(train.answers) == 1:
        findings.add(Fault("same-answer", f"has {usable} rows with one and the same answer"), name)


def _note(seen: Seen, at: int, findings: Findings, rule: str, detail: str) -> None:
    index = seen.prints.rows[at]
    fault = Fault(rule, detail)
    findings.add(fault, *seen.where(index))
    if findings.drops(fault):
        seen.skipped[index] = 1


def _place(seen: Seen, at: int) -> str:
    return place(*seen.where(seen.prints.rows[at]))
