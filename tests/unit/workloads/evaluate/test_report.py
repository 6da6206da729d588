"""Figures of the evaluation report, as people write them."""

import pytest

from kfp_trainer.runtime_operator.workloads.evaluate.comparison import Estimate, Score
from kfp_trainer.runtime_operator.workloads.evaluate.report import apart

GAPS = {
    "a share is told in points of a hundred": ("exact_match", 0.5, "+50.0"),
    "a large gap has no power of ten": ("perplexity", -2708.65, "-2,709"),
    "nor has one that rounding makes large": ("perplexity", 99.6, "+100"),
    "nor a small one": ("chrf", 0.00004, "+0.0000"),
    "in between two digits are enough": ("chrf", 0.9168, "+0.92"),
    "what is no number stays none": ("perplexity", float("nan"), "+nan"),
}


@pytest.mark.parametrize("sentence", GAPS)
def test_how_far_two_figures_lie_apart(sentence: str) -> None:
    name, gap, told = GAPS[sentence]
    assert apart(Score(name=name, rows=9, base=Estimate(value=0)), gap) == told
