"""What may be set for a gate: the evaluation to judge, and the rules that it must keep."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ..settings import Settings


def _rules(value: object) -> object:
    if not isinstance(value, str):
        return value
    rules = [each.strip() for each in re.split(r"[;\n]", value) if each.strip()]
    if not rules:
        raise ValueError("holds no rule, give one such as 'exact_match >= base + 0.02'")
    return rules


Rules = Annotated[tuple[str, ...], BeforeValidator(_rules)]


class GateSettings(Settings):
    """One gate."""

    evaluation: Path = Field(description="the folder of an evaluation, or its evaluation.json")
    base: Path | None = Field(
        default=None,
        description="an evaluation of the base by itself, of the same rows; unset: the evaluation's own base",
    )
    rules: Rules = Field(
        min_length=1,
        description="what must hold, with semicolons between: 'exact_match >= base + 0.02; chrf >= 0.5'",
    )
    judge_by: Literal["confidence", "value"] = Field(
        default="confidence",
        description="confidence: a rule must hold surely, given so many rows; value: for the figure alone",
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="how sure is sure enough")
    fewest_rows: int = Field(
        default=30, gt=0, description="by fewer rows than these nothing is decided with confidence"
    )
    output: Path | None = Field(default=None, description="a file for the judgement in JSON; unset: none")
