"""What tuning did to each question and to each score, and the page that tells it."""

import re
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, Sample
from kfp_trainer.runtime_operator.workloads.evaluate.asking import Said
from kfp_trainer.runtime_operator.workloads.evaluate.comparison import Estimate, Score, verdicts
from kfp_trainer.runtime_operator.workloads.evaluate.questions import Question
from kfp_trainer.runtime_operator.workloads.evaluate.report import evaluation_report
from kfp_trainer.runtime_operator.workloads.evaluate.scoring import judge_all, score_all

VERDICTS = {
    "only the tuned model is right": (0.0, 1.0, "won"),
    "only the base is right": (1.0, 0.0, "lost"),
    "both are": (1.0, 1.0, "both right"),
    "none is": (0.0, 0.0, "both wrong"),
    "the answer is nearer than it was": (0.2, 0.4, "won"),
    "it is as near as it was": (0.4, 0.4, "both wrong"),
}


@pytest.mark.parametrize("sentence", VERDICTS)
def test_verdicts(sentence: str) -> None:
    base, tuned, verdict = VERDICTS[sentence]
    sample = Sample(
        prompt="?",
        expected="yes",
        base="",
        tuned="",
        base_scores={"exact_match": base},
        tuned_scores={"exact_match": tuned},
    )
    assert sample.verdict("exact_match") == verdict


def evaluation(answers: list[tuple[str, str | None]], **more: object) -> Evaluation:
    alone = answers[0][1] is None
    given = {"model": "base", "tuned": None if alone else "tuned", "dataset": "data", "output": "out", **more}
    settings = EvaluateSettings.model_validate(given)
    questions = [Question(({"role": "user", "content": "question <i>"},), "yes")] * len(answers)
    said = [[Said(base, 1.0, 2) for base, _ in answers]]
    if not alone:
        said.append([Said(str(tuned), 0.5, 2) for _, tuned in answers])
    samples = judge_all(settings, questions, said)
    told = [] if alone else verdicts(samples, "exact_match")
    return Evaluation(
        scores=score_all(settings, samples, said),
        leading="exact_match",
        rows=len(answers),
        won=told.count("won"),
        lost=told.count("lost"),
        seconds={"base": 1.0},
        device="cpu",
        digests={"model": "ab"},
        versions={"torch": "2"},
        report=Path("report.html"),
        settings=settings,
        samples=samples,
    )


METRICS = {
    "two models": (
        [("no", "yes"), ("no", "yes"), ("yes", "no"), ("no", "no")],
        {"exact_match": 0.5, "exact_match_base": 0.25, "exact_match_gain": 0.25},
    ),
    "one model": ([("yes", None), ("no", None)], {"exact_match": 0.5}),
}


@pytest.mark.parametrize("sentence", METRICS)
def test_metrics(sentence: str) -> None:
    answers, metrics = METRICS[sentence]
    assert evaluation(answers, metrics="exact_match").metrics == metrics


def test_perplexity_is_of_all_tokens_together() -> None:
    score = evaluation([("yes", "yes")] * 3).score("perplexity")
    assert score is not None
    assert score.lower_is_better
    assert score.base.value == pytest.approx(1.6487, abs=1e-4)  # one nat over two tokens
    assert score.got_better is True


def estimate(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high)


SURE = {
    "the whole interval is above nought": (estimate(0.1, 0.2), False, True),
    "the whole interval is below nought": (estimate(-0.2, -0.1), False, False),
    "nought is within it": (estimate(-0.1, 0.2), False, None),
    "less is better, and it is less": (estimate(-0.2, -0.1), True, True),
    "less is better, and it is more": (estimate(0.1, 0.2), True, False),
    "no interval is known": (Estimate(value=0.5), False, None),
}


@pytest.mark.parametrize("sentence", SURE)
def test_whether_a_score_surely_got_better(sentence: str) -> None:
    difference, lower, expected = SURE[sentence]
    one = Estimate(value=0.0)
    score = Score(name="s", rows=3, base=one, tuned=one, difference=difference, lower_is_better=lower)
    assert score.got_better is expected


WORDS = {
    "a better model with losses": (
        [("no", "yes")] * 20 + [("yes", "no")],
        "1 answer got worse by tuning; it stands",
    ),
    "a model that is no better": ([("yes", "yes")], "not better than the base"),
    "a gain of chance": ([("no", "no")] * 9 + [("no", "yes")], "within what chance alone makes"),
    "a model that is surely worse": ([("yes", "no")] * 9, "Surely worse than the base: exact match"),
}


@pytest.mark.parametrize("sentence", WORDS)
def test_the_page_warns(sentence: str) -> None:
    answers, words = WORDS[sentence]
    assert words in evaluation_report(evaluation(answers))


@pytest.mark.parametrize("answers", [[("<b>no</b>", "yes"), ("", "")], [("yes", None)]])
def test_the_page_stands_alone(answers: list[tuple[str, str | None]]) -> None:
    page = evaluation_report(evaluation(answers))
    assert not re.search(r"https?:|src=|href=|@import|url\(|<i>|<b>no", page)


def test_lost_questions_stand_first() -> None:
    page = evaluation_report(evaluation([("no", "yes"), ("yes", "no"), ("no", "no")]))
    assert re.findall(r'<td data-name="Verdict"><span>([a-z ]+)<', page) == ["lost", "both wrong", "won"]


def test_every_verdict_has_a_section_and_what_was_right_is_folded() -> None:
    page = evaluation_report(evaluation([("yes", "yes"), ("no", "yes"), ("yes", "no"), ("yes", "yes")]))
    assert re.findall(r"<h2>([A-Z][a-z ]+\(\d\))</h2>", page) == [
        "Answers that got worse (1)",
        "Answers that got better (1)",
        "Right before and after (2)",
    ]
    assert page.index("<details>") > page.index("Right before and after")


def test_a_difference_of_shares_is_told_in_points() -> None:
    page = evaluation_report(evaluation([("no", "yes"), ("yes", "yes")] * 20))
    assert re.search(r"<span>\+50\.0 \(\+3\d\.\d to \+6\d\.\d\) points</span>", page)
