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


class FinetuneResult(BaseModel):
    """The proof of a run: what went in, what came out, how it went."""

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    model: Path = Field(description="the tuned model, whole and ready to load")
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
    seconds: dict[str, float] = Field(description="where the time went: prepare, train, save")
    curve: list[Logged]
    digests: dict[str, str] = Field(description="SHA-256 of the base model's folder and of the rows")
    versions: dict[str, str]
    settings: FinetuneSettings
