"""What may be set for an evaluation: with `tuned` two models answer, without it one does."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ..settings import Settings


class EvaluateSettings(Settings):
    """One evaluation."""

    model: Path = Field(description="the folder of the base model, in Hugging Face form")
    tuned: Path | None = Field(
        default=None,
        description="the tuned model: a whole one, or an adapter for the base; unset: base alone",
    )
    dataset: Path = Field(description="a folder with eval.jsonl, or one file of prompt and completion rows")
    output: Path = Field(description="the folder that the results are written to")
    limit: int | None = Field(default=None, gt=0, description="use only the first rows; unset: all")
    batch_size: int = Field(default=32, gt=0, description="questions answered at once")
    max_new_tokens: int = Field(default=64, gt=0, description="the longest answer, in tokens")
    seed: int = Field(default=7, ge=0, description="makes a run repeatable")
    threads: int | None = Field(
        default=None, gt=0, description="CPU threads a process computes with; unset: torch's own choice"
    )
