"""What `select_model` does: of several tuned models, the one that scored best goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import SpecError
from .outputs import describe, every_output, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl


def select_model(
    models: Sequence[str],
    evaluations: Sequence[str],
    scores: Sequence[float],
    best_model: dsl.Model,
    ranking: dsl.Markdown,
    best_path: str,
    best_evaluation: str,
    lowest: bool,
) -> None:
    """Take the best and fill the outputs; of equals the first."""
    with every_output("The selection", ranking, values={best_path: "", best_evaluation: ""}):
        order = rank(models, evaluations, scores, lowest=lowest)
        best = order[0]
        lines = [f"| {place} | {scores[at]:.4g} | `{models[at]}` |" for place, at in enumerate(order, 1)]
        head = ["# Trials", "", "| place | score | model |", "|---|---|---|"]
        write_file(ranking, "\n".join([*head, *lines]) + "\n")
        describe(best_model, path=models[best], score=scores[best], trials=len(scores))
        write_value(best_path, models[best])
        write_value(best_evaluation, evaluations[best])
        print(f"the best of {len(order)} scores {scores[best]:.4g}: {models[best]}", flush=True)


def rank(
    models: Sequence[str], evaluations: Sequence[str], scores: Sequence[float], *, lowest: bool
) -> list[int]:
    """The places of the trials in their lists, best first."""
    if not scores or not len(models) == len(evaluations) == len(scores):
        counts = f"{len(models)} models, {len(evaluations)} evaluations and {len(scores)} scores"
        raise SpecError(f"models: needs one evaluation and one score for each model, got {counts}")
    return sorted(range(len(scores)), key=lambda at: (scores[at] if lowest else -scores[at], at))
