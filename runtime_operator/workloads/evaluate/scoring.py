"""From what was said to scores: each answer judged, each judge summed up over the rows with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from .asking import Said
from .comparison import Estimate, Sample, Score
from .intervals import Column, Draws, Interval, figure_of, intervals
from .judging import ACCURACY, PERPLEXITY, judge
from .questions import Question
from .settings import EvaluateSettings


def judge_all(
    settings: EvaluateSettings, questions: Sequence[Question], said: Sequence[Sequence[Said]]
) -> list[Sample]:
    """Each question with the answers to it; `said` holds those of the base and then of the tuned model."""
    samples = []
    for number, question in enumerate(questions):
        answers = [each[number] for each in said]
        scores = [_scores_of(settings, question, each) for each in answers]
        samples.append(
            Sample(
                prompt=question.shown,
                expected=question.expected,
                base=answers[0].text,
                tuned=answers[1].text if len(answers) > 1 else None,
                base_scores=scores[0],
                tuned_scores=scores[1] if len(scores) > 1 else {},
            )
        )
    return samples


def _scores_of(settings: EvaluateSettings, question: Question, said: Said) -> dict[str, float]:
    if question.choices:
        return {ACCURACY: float(said.text == question.expected)}
    return judge(said.text, question.expected, settings.judges)


def score_all(
    settings: EvaluateSettings, samples: Sequence[Sample], said: Sequence[Sequence[Said]]
) -> list[Score]:
    """Every judge over all rows; the first leads."""
    scores = []
    for name in samples[0].base_scores if samples else ():
        columns = [[(each.base_scores[name],) for each in samples]]
        if len(said) > 1:
            columns.append([(each.tuned_scores[name],) for each in samples])
        scores.append(score_of(settings, name, columns))
    if PERPLEXITY in settings.judges and any(each.tokens for each in said[0]):
        sums = [[(each.nats, float(each.tokens)) for each in one] for one in said]
        scores.append(score_of(settings, PERPLEXITY, sums, lower_is_better=True))
    return scores


def score_of(
    settings: EvaluateSettings, name: str, columns: Sequence[Column], *, lower_is_better: bool = False
) -> Score:
    """A figure of one model or of two, from the numbers of their rows."""
    how = Draws(settings.confidence, settings.resamples, settings.seed)
    found, gap = intervals(columns, figure_of(columns[0]), how)
    return Score(
        name=name,
        rows=len(columns[0]),
        base=_estimate(found[0]),
        tuned=_estimate(found[1]) if gap else None,
        difference=_estimate(gap) if gap else None,
        lower_is_better=lower_is_better,
        columns=[list(each) for each in columns],
    )


def _estimate(found: Interval) -> Estimate:
    return Estimate(value=found.value, low=found.low, high=found.high)
