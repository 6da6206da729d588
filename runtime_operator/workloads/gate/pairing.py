"""Puts two evaluations side by side: the model of one against the model of the other, row by row.

Only answers to the very same questions can be compared. Other rows, another order, another way of putting
them to the model, another longest answer or another seed are refused, and so are other tasks.
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import SpecError
from ..evaluate.comparison import Evaluation, Score
from ..evaluate.scoring import score_of

SAME: dict[str, Callable[[Evaluation], object]] = {
    "was asked other rows": lambda each: [(row.prompt, row.expected) for row in each.samples],
    "was asked with another longest answer": lambda each: each.settings.max_new_tokens,
    "was asked with another seed": lambda each: each.settings.seed,
    "was asked other tasks": lambda each: each.settings.tasks,
    "was asked with another limit": lambda each: each.settings.limit,
}


def pair(evaluation: Evaluation, base: Evaluation) -> Evaluation:
    """The evaluation, with the other's model for its base; the tuned model of each, where it has one."""
    for trouble, told in SAME.items():
        if told(evaluation) != told(base):
            raise SpecError(f"base: {trouble} than the evaluation, evaluate both models alike")
    prompts = [each.digests.get("prompts") for each in (evaluation, base)]
    if all(prompts) and len(set(prompts)) > 1:
        raise SpecError(
            "base: was asked through another chat template than the evaluation, evaluate both models alike"
        )
    scores = [_paired(evaluation, each, base.score(each.name)) for each in evaluation.scores]
    return evaluation.model_copy(update={"scores": scores})


def _paired(evaluation: Evaluation, score: Score, base: Score | None) -> Score:
    """One score of both models; of the first alone where the other was not measured by it."""
    mine = score.tuned or score.base
    if base is None:
        return score.model_copy(
            update={"base": mine, "tuned": None, "difference": None, "columns": score.columns[-1:]}
        )
    if score.columns and base.columns and score.rows == base.rows:
        columns = [base.columns[-1], score.columns[-1]]
        how = evaluation.settings
        return score_of(how, score.name, columns, lower_is_better=score.lower_is_better)
    return score.model_copy(
        update={"base": base.tuned or base.base, "tuned": mine, "difference": None, "columns": []}
    )
