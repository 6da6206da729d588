"""Whether a rule holds: for the figure alone, or for all that the rows of the evaluation leave possible.

Rows are drawn anew many times, base and tuned with the same rows; a rule holds surely when it does in as many
draws as is sure enough. A draw that lies on the limit itself counts where all of them do, as those of an
unchanged model: with few rows many lie there, and models a little worse would pass. What is no number breaks
every rule, and few rows decide none.
"""

from __future__ import annotations

import math
from typing import Any

from ..evaluate.comparison import Evaluation, Score
from ..evaluate.intervals import Draws, draw, figure_of
from .result import Judgement
from .rules import Rule
from .settings import GateSettings

TINY = 1e-12  # what sums of the same numbers may differ by


def judge_rule(rule: Rule, score: Score, evaluation: Evaluation, settings: GateSettings) -> Judgement:
    """Judge one rule by the score that it is about."""
    value = (score.tuned or score.base).value
    limit = rule.limit(score.base.value)
    holds, why = _judged(rule, score, evaluation, settings)
    base = f", base {score.base.value:.4g}" if score.tuned else ""
    rows = f", {score.rows:,} row{'' if score.rows == 1 else 's'}" if score.rows else ""
    sentence = f"{rule.text}: {why} ({value:.4g} against {limit:.4g}{base}{rows})"
    return Judgement(rule=rule.text, holds=holds, sentence=sentence, value=value, limit=limit)


def _judged(rule: Rule, score: Score, evaluation: Evaluation, settings: GateSettings) -> tuple[bool, str]:
    """Whether it holds, and why."""
    value, limit = (score.tuned or score.base).value, rule.limit(score.base.value)
    if not (math.isfinite(value) and math.isfinite(limit)):
        return False, "is broken, for a figure is no number"
    if not _keeps(rule, value, limit):
        return False, "is broken"
    if settings.judge_by == "value":
        return True, "holds"
    if not score.columns:
        return True, "holds, and no rows tell how surely"
    if score.rows < settings.fewest_rows:
        return False, (
            f"cannot be decided by fewer than {settings.fewest_rows} rows; "
            "evaluate more rows, or judge by value"
        )
    sure = f"{settings.confidence:.0%}"
    if _kept_surely(rule, score, evaluation, settings):
        return True, f"holds with {sure} confidence"
    return False, f"is not sure with {sure} confidence; evaluate more rows, or judge by value"


def _keeps(rule: Rule, value: float, limit: float) -> bool:
    if rule.is_strict:
        return value > limit if rule.wants_more else value < limit
    return value >= limit - TINY if rule.wants_more else value <= limit + TINY


def _kept_surely(rule: Rule, score: Score, evaluation: Evaluation, settings: GateSettings) -> bool:
    """Whether the rule holds in as many draws as is sure enough."""
    import numpy

    how = Draws(settings.confidence, evaluation.settings.resamples, evaluation.settings.seed)
    drawn: list[Any] = [draw(each, figure_of(each), how).values for each in score.columns]
    margins = drawn[-1] - (rule.factor * drawn[0] + rule.offset)
    margins = margins if rule.wants_more else -margins
    unchanged = bool(numpy.all(abs(margins) <= TINY)) and not rule.is_strict
    return unchanged or bool(numpy.mean(margins > TINY) >= settings.confidence)
