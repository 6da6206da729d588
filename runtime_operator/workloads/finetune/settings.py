"""What may be set for a fine-tuning run. `model`, `dataset` and `output` alone make a good one.

`batch_size` counts the rows of one optimiser step over all processes together, so that the same document
gives the same model on one process and on eight.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ..settings import Settings

RATES = {"lora": 2e-4, "full": 2e-5}


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class FinetuneSettings(Settings):
    """One fine-tuning run."""

    model: Path = Field(description="the folder of the base model, in Hugging Face form")
    dataset: Path = Field(description="a folder with train.jsonl, or one file of prompt and completion rows")
    output: Path = Field(description="the folder that the results are written to")
    method: Literal["lora", "full"] = Field(
        default="lora", description="lora trains small matrices beside the weights, full trains every weight"
    )
    epochs: float = Field(default=1.0, gt=0, description="how often every row is seen")
    max_steps: int | None = Field(default=None, gt=0, description="stop after this many steps instead")
    batch_size: int = Field(default=16, gt=0, description="rows a step, over all processes together")
    learning_rate: float | None = Field(
        default=None, gt=0, description="the highest rate; unset: 2e-4 for lora, 2e-5 for full"
    )
    sequence_length: int = Field(default=1024, gt=1, description="tokens a row; what is longer is cut off")
    lora_rank: int = Field(default=16, gt=0, description="the width of LoRA's matrices")
    lora_alpha: float = Field(default=32.0, gt=0, description="LoRA's scale, divided by its rank")
    lora_dropout: float = Field(default=0.0, ge=0, lt=1, description="the share of LoRA's inputs dropped")
    lora_targets: Names = Field(
        default=("all-linear",), description="the layers LoRA is put on, by the end of their name"
    )
    seed: int = Field(default=7, ge=0, description="makes a run repeatable")
    log_every: int = Field(default=10, gt=0, description="steps between two lines of progress")
    save_every: int | None = Field(
        default=None, gt=0, description="steps between two checkpoints; unset: none; a restart resumes there"
    )
    threads: int | None = Field(
        default=None, gt=0, description="CPU threads a process computes with; unset: torch's own choice"
    )

    @property
    def rate(self) -> float:
        """The learning rate given, or the method's own."""
        return self.learning_rate if self.learning_rate is not None else RATES[self.method]
