"""What a fine-tuning run leaves behind, as one value and as `result.json`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from .settings import FinetuneSettings

RESULT_FILE = "result.json"
PROGRESS_FILE = "progress.jsonl"
REPORT_FILE = "training_report.html"


class Logged(BaseModel):
    """One point of the training curves."""

    model_config = ConfigDict(frozen=True)

    step: int
    loss: float
    learning_rate: float
    gradient_norm: float | None = None
    tokens_per_second: float | None = None
    memory: int | None = Field(default=None, description="bytes the first process held")


class Evaluated(BaseModel):
    """One look at the held-out rows during training."""

    model_config = ConfigDict(frozen=True)

    step: int
    loss: float


class FinetuneResult(BaseModel):
    """The proof of a run: what went in, what came out, how it went."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    model: Path = Field(description="the tuned model, whole and ready to load; unmerged: the adapter")
    adapter: Path | None = Field(description="the LoRA adapter alone; none for full fine-tuning")
    report: Path = Field(description="the HTML report")
    steps: int
    resumed_from: int = Field(description="the step a restart went on from; 0 for a run in one go")
    first_loss: float
    last_loss: float
    rows: int
    truncated_rows: int = Field(description="rows longer than sequence_length, of which the end was cut off")
    parameters: int
    trained_parameters: int
    tokens: int = Field(description="tokens seen, questions and answers, without padding")
    tokens_per_second: float
    processes: int
    device: str
    seconds: dict[str, float] = Field(
        description="where the time went: prepare, load, train, evaluate, checkpoint, save"
    )
    curve: list[Logged]
    digests: dict[str, str] = Field(
        description="SHA-256 of the base model's folder, of the rows and of the settings"
    )
    versions: dict[str, str]
    settings: FinetuneSettings
    precision: str = Field(default="fp32", description="the numbers computed with")
    spread: str = Field(default="alone", description="alone, ddp or fsdp2")
    rows_at_once: int = Field(default=0, description="rows a process computed at once")
    accumulation: int = Field(default=1, description="parts each step was computed in")
    gradient_checkpointing: bool = Field(default=False, description="whether activations were computed twice")
    peak_memory: int = Field(default=0, description="the most bytes the first process held at once")
    estimated_memory: dict[str, int] = Field(default={}, description="bytes planned for, by what for")
    held_out: list[Evaluated] = Field(default=[], description="the loss on held-out rows during training")
    stopped_early: bool = Field(default=False, description="whether early_stopping ended the run")
    failed_checkpoints: int = Field(default=0, description="checkpoints given up because the disk was full")
    padding_share: float = Field(default=0.0, description="about how much of what was computed was padding")
    pushed: str | None = Field(default=None, description="where the tuned model was pushed to")
    pushed_digest: str | None = Field(default=None, description="of the files that were pushed")
    warnings: list[str] = Field(default=[], description="what a careful person would want to be told")
