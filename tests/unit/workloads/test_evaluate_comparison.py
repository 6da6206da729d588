"""Exact match, and what tuning did to each question."""

import re
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, Sample
from kfp_trainer.runtime_operator.workloads.evaluate.comparison import pair_up, share_right
from kfp_trainer.runtime_operator.workloads.evaluate.report import evaluation_report
from kfp_trainer.runtime_operator.workloads.rows import Row

VERDICTS = {
    "only the tuned model is right": ("no", "yes", "won"),
    "only the base is right": ("yes", "no", "lost"),
    "white space at the ends does not count": ("yes\n", " yes", "both right"),
    "the case of letters does": ("Yes", "YES", "both wrong"),
    "an empty answer is wrong": ("", "", "both wrong"),
}


@pytest.mark.parametrize("sentence", VERDICTS)
def test_verdicts(sentence: str) -> None:
    base, tuned, verdict = VERDICTS[sentence]
    assert Sample(prompt="?", expected="yes", base=base, tuned=tuned).verdict == verdict


def evaluation(answers: list[tuple[str, str | None]]) -> Evaluation:
    rows = [Row("question <i>", "yes")] * len(answers)
    alone = answers[0][1] is None
    samples = pair_up(
        rows, [base for base, _ in answers], None if alone else [str(tuned) for _, tuned in answers]
    )
    tuned = Path("tuned")
    return Evaluation(
        base_exact_match=share_right([sample.base_right for sample in samples]),
        tuned_exact_match=None if alone else share_right([sample.tuned_right for sample in samples]),
        rows=len(rows),
        won=sum(sample.verdict == "won" for sample in samples),
        lost=sum(sample.verdict == "lost" for sample in samples),
        seconds={"base": 1.0},
        device="cpu",
        digests={"model": "ab"},
        versions={"torch": "2"},
        report=Path("report.html"),
        settings=EvaluateSettings(
            model=Path("base"), tuned=None if alone else tuned, dataset=Path("data"), output=Path("out")
        ),
        samples=samples,
    )


METRICS = {
    "two models": (
        [("no", "yes"), ("no", "yes"), ("yes", "no"), ("no", "no")],
        {"exact_match": 0.5, "base_exact_match": 0.25, "gain": 0.25},
    ),
    "one model": ([("yes", None), ("no", None)], {"exact_match": 0.5}),
}


@pytest.mark.parametrize("sentence", METRICS)
def test_metrics(sentence: str) -> None:
    answers, metrics = METRICS[sentence]
    assert evaluation(answers).metrics == metrics


WORDS = {
    "a better model with losses": (
        [("no", "yes"), ("no", "yes"), ("yes", "no")],
        "1 questions that the base answers",
    ),
    "a model that is no better": ([("yes", "yes")], "not better than the base"),
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
