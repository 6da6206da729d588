"""What an evaluation found: a score for each judge, a verdict for each row, all of it one value.

A sample is won when tuning made its leading score better and lost when it made it worse; what got worse
counts as much as what got better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .settings import EvaluateSettings

EVALUATION_FILE = "evaluation.json"
METRICS_FILE = "metrics.json"
REPORT_FILE = "evaluation_report.html"
Verdict = Literal["won", "lost", "both right", "both wrong"]
RIGHT = 1.0


class Estimate(BaseModel):
    """A figure and the interval in which it lies."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    value: float
    low: float | None = Field(default=None, description="none where the figure has no rows to draw from")
    high: float | None = None


class Score(BaseModel):
    """One figure of the base, of the tuned model, and of their difference row by row."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    name: str
    rows: int
    base: Estimate
    tuned: Estimate | None = None
    difference: Estimate | None = Field(default=None, description="tuned less base, over the same rows")
    lower_is_better: bool = False
    columns: list[list[tuple[float, ...]]] = Field(
        default_factory=list,
        description="of the base and the tuned model: the numbers of each row that the figure is made from",
    )

    @model_validator(mode="after")
    def _is_of_the_same_rows(self) -> Score:
        models = 1 if self.tuned is None else 2
        if self.columns and [len(each) for each in self.columns] != [self.rows] * models:
            raise ValueError(f"its models were not measured by the same {self.rows} rows")
        return self

    @property
    def got_better(self) -> bool | None:
        """Whether tuning surely made it better or worse; none where that is not sure."""
        if self.difference is None or self.difference.low is None or self.difference.high is None:
            return None
        up, down = self.difference.low > 0, self.difference.high < 0
        return None if not (up or down) else up != self.lower_is_better


class Sample(BaseModel):
    """One question, what was expected, what each model said, and what the judges say of that."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    prompt: str
    expected: str
    base: str
    tuned: str | None = None
    base_scores: dict[str, float]
    tuned_scores: dict[str, float] = Field(default_factory=dict)

    def verdict(self, judge: str) -> Verdict:
        """What tuning did to this question."""
        before, after = self.base_scores[judge], self.tuned_scores.get(judge, self.base_scores[judge])
        if after != before:
            return "won" if after > before else "lost"
        return "both right" if before >= RIGHT else "both wrong"


class Evaluation(BaseModel):
    """The proof of an evaluation, also written as `evaluation.json`."""

    model_config = ConfigDict(frozen=True, protected_namespaces=(), ser_json_inf_nan="strings")

    scores: list[Score]
    leading: str | None = Field(description="the judge by which rows are won and lost; none without rows")
    rows: int
    won: int = Field(description="questions whose answer tuning made better")
    lost: int = Field(description="questions whose answer tuning made worse")
    seconds: dict[str, float] = Field(description="time each model took to load and to answer")
    device: str
    digests: dict[str, str]
    versions: dict[str, str]
    report: Path
    settings: EvaluateSettings
    samples: list[Sample]

    def score(self, name: str) -> Score | None:
        """The score of this name, if it was measured."""
        return next((each for each in self.scores if each.name == name), None)

    @property
    def metrics(self) -> dict[str, float]:
        """All figures, flat, as a pipeline shows them: the tuned model's under the score's own name."""
        flat: dict[str, float] = {}
        for each in self.scores:
            if each.tuned is None:
                flat[each.name] = each.base.value
                continue
            flat[each.name] = each.tuned.value
            flat[f"{each.name}_base"] = each.base.value
            flat[f"{each.name}_gain"] = each.tuned.value - each.base.value
        return flat

    @property
    def line(self) -> str:
        """The same as `name=value` for people and collectors, who know no slash in a name and no NaN."""
        told = {re.sub(r"[^\w-]", "_", name): value for name, value in self.metrics.items()}
        return " ".join(f"{name}={value:.6g}" for name, value in told.items() if isfinite(value))


def verdicts(samples: Sequence[Sample], judge: str) -> list[Verdict]:
    """The verdict on each sample."""
    return [sample.verdict(judge) for sample in samples]
