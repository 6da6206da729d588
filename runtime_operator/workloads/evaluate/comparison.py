"""How answers are judged, and how two models compare on the same questions.

Exact match: the answer equals the expected one but for white space at its ends. A sample is won when only the
tuned model is right and lost when only the base is; what got worse counts as much as what got better.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..rows import Row
from .settings import EvaluateSettings

EVALUATION_FILE = "evaluation.json"
REPORT_FILE = "evaluation_report.html"
Verdict = Literal["won", "lost", "both right", "both wrong"]


class Sample(BaseModel):
    """One question, what was expected and what each model said."""

    model_config = ConfigDict(frozen=True)

    prompt: str
    expected: str
    base: str
    tuned: str | None

    @property
    def base_right(self) -> bool:
        """Whether the base's answer is an exact match."""
        return self.base.strip() == self.expected.strip()

    @property
    def tuned_right(self) -> bool:
        """Whether the tuned model's answer is an exact match."""
        return self.tuned is not None and self.tuned.strip() == self.expected.strip()

    @property
    def verdict(self) -> Verdict:
        """What tuning did to this question."""
        match self.base_right, self.tuned_right:
            case False, True:
                return "won"
            case True, False:
                return "lost"
            case True, True:
                return "both right"
            case _:
                return "both wrong"


class Evaluation(BaseModel):
    """The proof of an evaluation, also written as `evaluation.json`."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    base_exact_match: float
    tuned_exact_match: float | None = Field(description="none when only one model was evaluated")
    rows: int
    won: int = Field(description="questions that only the tuned model answers rightly")
    lost: int = Field(description="questions that only the base answers rightly")
    seconds: dict[str, float] = Field(description="time each model took to load and to answer")
    device: str
    digests: dict[str, str]
    versions: dict[str, str]
    report: Path
    settings: EvaluateSettings
    samples: list[Sample]

    @property
    def metrics(self) -> dict[str, float]:
        """The headline numbers, flat, as a pipeline shows them."""
        if self.tuned_exact_match is None:
            return {"exact_match": self.base_exact_match}
        return {
            "exact_match": self.tuned_exact_match,
            "base_exact_match": self.base_exact_match,
            "gain": self.tuned_exact_match - self.base_exact_match,
        }


def pair_up(rows: Sequence[Row], base: Sequence[str], tuned: Sequence[str] | None) -> list[Sample]:
    """Each row with the answers to it."""
    return [
        Sample(
            prompt=row.prompt,
            expected=row.completion,
            base=base[index],
            tuned=None if tuned is None else tuned[index],
        )
        for index, row in enumerate(rows)
    ]


def share_right(verdicts: Sequence[bool]) -> float:
    """The share of answers that are right."""
    return sum(verdicts) / len(verdicts)
