"""How an answer is judged, and how sure the sum of many is."""

import pytest

from kfp_trainer.runtime_operator.workloads.evaluate.intervals import Draws, figure_of, intervals
from kfp_trainer.runtime_operator.workloads.evaluate.judging import TEXT_JUDGES

SAID = {
    "the very answer": ("a red fox", "a red fox", {"exact_match": 1, "contains": 1, "rouge_l": 1, "chrf": 1}),
    "white space around it": (" a red fox\n", "a red fox", {"exact_match": 1, "chrf": 1}),
    "another case": ("A Red Fox", "a red fox", {"exact_match": 0, "contains": 1}),
    "the answer among words": ("It is a red fox.", "a red fox", {"exact_match": 0, "contains": 1}),
    "nothing": ("", "a red fox", {"exact_match": 0, "contains": 0, "bleu": 0, "chrf": 0, "rouge_l": 0}),
    "something else": ("seven", "a red fox", {"exact_match": 0, "contains": 0, "rouge_l": 0}),
}


@pytest.mark.parametrize("sentence", SAID)
def test_judges(sentence: str) -> None:
    said, expected, scores = SAID[sentence]
    assert {name: TEXT_JUDGES[name](said, expected) for name in scores} == pytest.approx(scores)


def test_a_nearer_answer_has_a_better_score() -> None:
    expected, near, far = "the red fox jumps over the dog", "the red fox jumps over it", "seven parrots"
    for name in ("bleu", "chrf", "rouge_l"):
        judge = TEXT_JUDGES[name]
        assert 1 > judge(near, expected) > judge(far, expected)


HOW = Draws(confidence=0.95, resamples=2000, seed=7)


def column(right: int, wrong: int) -> list[tuple[float, ...]]:
    return [(1.0,)] * right + [(0.0,)] * wrong


def test_an_interval_holds_the_figure_and_narrows_with_the_rows() -> None:
    widths = []
    for times in (1, 4, 16):
        (one,), gap = intervals([column(3 * times, 7 * times)], figure_of(column(3 * times, 7 * times)), HOW)
        assert gap is None
        assert one.low <= one.value <= one.high
        assert one.value == pytest.approx(0.3)
        widths.append(one.high - one.low)
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_the_difference_is_taken_row_by_row() -> None:
    base, tuned = column(50, 50), column(55, 45)
    both, gap = intervals([base, tuned], figure_of(base), HOW)
    assert gap is not None
    assert gap.value == pytest.approx(0.05)
    assert gap.high - gap.low < (both[0].high - both[0].low) / 2


def test_the_same_answers_differ_by_nothing() -> None:
    _, gap = intervals([column(5, 5)] * 2, figure_of(column(5, 5)), HOW)
    assert gap is not None
    assert (gap.low, gap.value, gap.high) == (0.0, 0.0, 0.0)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    numpy = pytest.importorskip("numpy")
    chance, hits = numpy.random.default_rng(1), 0
    for seed in range(200):
        rows = [(float(each),) for each in chance.random(80) < 0.4]
        (one,), _ = intervals([rows], figure_of(rows), Draws(0.9, 400, seed))
        hits += one.low <= 0.4 <= one.high
    assert 160 <= hits <= 196  # 180 are expected
