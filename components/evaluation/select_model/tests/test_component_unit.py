"""The best goes on; of equals the first."""

from pathlib import Path

import pytest

from kfp_trainer.components.evaluation.select_model import select_model
from tests.kfp_local import Outputs, call

CASES = {
    "the highest score": ([0.1, 0.7, 0.3], False, "b"),
    "the lowest, where less is better": ([5.0, 7.0, 3.0], True, "c"),
    "of equals the first": ([0.5, 0.5, 0.5], False, "a"),
}


@pytest.mark.parametrize("sentence", CASES)
def test_the_best_goes_on(sentence: str, tmp_path: Path) -> None:
    scores, lowest, best = CASES[sentence]
    told = call(
        select_model, tmp_path, models=["a", "b", "c"], evaluations=["ea", "eb", "ec"], scores=scores,
        lowest=lowest,
    )  # fmt: skip
    assert (told.text("best_path"), told.text("best_evaluation")) == (best, f"e{best}")
    assert told.facts("best_model")["trials"] == 3
    assert "| 1 |" in told.text("ranking")


def test_lists_of_different_lengths_are_refused(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, select_model)
    with pytest.raises(SystemExit, match=r"got 1 models, 2 evaluations and 2 scores"):
        select_model.python_func(models=["a"], evaluations=["b", "c"], scores=[1, 2], **outputs.arguments)
