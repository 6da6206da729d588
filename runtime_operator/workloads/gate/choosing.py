"""Which score a rule is about, and what keeps it from being judged at all.

A rule that asks for something other than the evaluation holds is a mistake of whoever wrote it, not of the
model: it is refused, all such rules at once, instead of letting a model pass or stopping it.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ...errors import FieldError, SpecError
from ..evaluate.comparison import Evaluation, Score
from .rules import Rule


def choose_scores(rules: Sequence[Rule], evaluation: Evaluation) -> list[Score]:
    """The score of each rule; SpecError has a sentence for each rule that does not fit the evaluation."""
    errors, chosen = [], []
    for number, rule in enumerate(rules):
        score = evaluation.score(rule.score)
        trouble = _trouble(rule, score, evaluation)
        if trouble:
            errors.append(FieldError(f"rules.{number}", trouble))
        elif score:
            chosen.append(score)
    if errors:
        raise SpecError(errors)
    return chosen


def _trouble(rule: Rule, score: Score | None, evaluation: Evaluation) -> str:
    """What is wrong with a rule, or nothing."""
    if score is None:
        return f"the evaluation has no score {rule.score!r}, {_nearest(rule.score, evaluation)}"
    if rule.factor and score.tuned is None:
        return (
            f"{rule.text!r} compares with the base, and only one model was evaluated; "
            "evaluate both, or give the base's evaluation as `base`"
        )
    if score.lower_is_better == rule.wants_more:
        better, way = ("less", "<=") if score.lower_is_better else ("more", ">=")
        return f"{rule.text!r} asks for the wrong way, for {better} {score.name} is better; write {way}"
    return ""


def _nearest(name: str, evaluation: Evaluation) -> str:
    known = [each.name for each in evaluation.scores]
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}" if near else f"it has {', '.join(known) or 'none'}"
