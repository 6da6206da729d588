"""What may be set for an evaluation: with `tuned` two models answer, without it one does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ..settings import Settings
from .models import is_served

Judge = Literal["exact_match", "contains", "bleu", "chrf", "rouge_l", "perplexity"]
JUDGES: tuple[str, ...] = get_args(Judge)
USUAL = ("exact_match", "chrf", "perplexity")
USUAL_SERVED = ("exact_match", "chrf")
"""a chat endpoint tells no probabilities, so no perplexity"""


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Model = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Judges = Annotated[tuple[Judge, ...], BeforeValidator(_names)]


class EvaluateSettings(Settings):
    """One evaluation."""

    model: Model = Field(
        description="the base model: a folder in Hugging Face form, or a served one as http://HOST/v1#NAME"
    )
    tuned: Model | None = Field(
        default=None,
        description="the tuned model: a whole one, an adapter for the base, or served; unset: base alone",
    )
    dataset: Path | None = Field(
        default=None,
        description="held-out rows: a folder with an eval split, or one file; unset: tasks alone",
    )
    output: Path = Field(description="the folder that the results are written to")
    metrics: Judges | None = Field(
        default=None,
        description=f"how answers are judged: {', '.join(JUDGES)}; unset: {', '.join(USUAL)}",
    )
    tasks: Names = Field(
        default=(), description="tasks of lm-eval besides, by name or YAML file, whose data is at hand"
    )
    task_data: Path | None = Field(
        default=None,
        description="a folder of the tasks' datasets, each under its name on the hub, as allenai/ai2_arc; "
        "unset: what the cache of datasets holds",
    )
    limit: int | None = Field(default=None, gt=0, description="use only the first rows; unset: all")
    batch_size: int = Field(default=32, gt=0, description="questions answered at once")
    patience: float = Field(
        default=120.0, gt=0, description="seconds that a served model may take for an answer"
    )
    max_new_tokens: int = Field(default=64, gt=0, description="the longest answer, in tokens")
    confidence: float = Field(
        default=0.95, gt=0.5, lt=1, description="how sure the intervals around the figures are"
    )
    resamples: int = Field(
        default=2000, ge=100, description="how often rows are drawn anew for the intervals"
    )
    seed: int = Field(default=7, ge=0, description="makes a run repeatable")
    threads: int | None = Field(
        default=None, gt=0, description="CPU threads a process computes with; unset: torch's own choice"
    )

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges given, or the usual ones of what the models can tell."""
        return self.metrics or (USUAL_SERVED if self.has_served else USUAL)

    @property
    def has_served(self) -> bool:
        """Whether one of the models is behind an endpoint."""
        return any(is_served(each) for each in (self.model, self.tuned) if each)

    @field_validator("model", "tuned")
    @classmethod
    def _names_its_model(cls, value: str | None) -> str | None:
        if value and is_served(value) and "@" in urlsplit(value).netloc:
            raise ValueError("holds a name or a password, put the key into OPENAI_API_KEY instead")
        if value and is_served(value) and not value.partition("#")[2]:
            raise ValueError(f"{value} does not say which model, add its name: {value}#NAME")
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> EvaluateSettings:
        if self.dataset is None and not self.tasks:
            raise ValueError("dataset: give held-out rows, or tasks of lm-eval")
        if self.has_served and "perplexity" in (self.metrics or ()):
            raise ValueError("metrics: a served chat model tells no perplexity, leave it out")
        return self
