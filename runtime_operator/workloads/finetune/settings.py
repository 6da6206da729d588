"""What may be set for a fine-tuning run. `model` and `dataset` alone make a good one.

`batch_size` counts the rows of one optimiser step over all processes together, so that the same document
gives the same model on one process and on eight. What is unset is chosen by `plan.py`; `--explain` shows it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from ..settings import Settings

RATES = {
    ("sft", "adapter"): 2e-4,
    ("sft", "full"): 2e-5,
    ("dpo", "adapter"): 2e-5,
    ("dpo", "full"): 1e-6,
}


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Tracker = Literal["tensorboard", "mlflow"]
Trackers = Annotated[tuple[Tracker, ...], BeforeValidator(_names)]


class FinetuneSettings(Settings):
    """One fine-tuning run."""

    model: Path = Field(description="the folder of the base model, in Hugging Face form")
    dataset: Path = Field(
        description="a folder or a file of rows: prompt and completion, messages, text, or pairs for dpo"
    )
    output: Path = Field(default=Path("tuned"), description="the folder that the results are written to")
    method: Literal["lora", "full", "qlora", "dora"] = Field(
        default="lora",
        description="lora trains small matrices beside the weights, qlora does so beside weights of 4 bits, "
        "dora also trains their lengths, full trains every weight",
    )
    objective: Literal["sft", "dpo"] = Field(
        default="sft", description="sft learns answers, dpo learns which of two answers is the better one"
    )
    backend: Literal["trl", "torchtune"] = Field(
        default="trl",
        description="what trains: trl any causal language model, torchtune Llama and Qwen2 by its recipes",
    )
    epochs: float = Field(default=1.0, gt=0, description="how often every row is seen")
    max_steps: int | None = Field(default=None, gt=0, description="stop after this many steps instead")
    batch_size: int = Field(
        default=16,
        gt=0,
        description="rows a step, over all processes together; unset: 16, more if that does not divide",
    )
    accumulation: int | None = Field(
        default=None,
        gt=0,
        description="parts a step is computed in, one after the other; unset: as few as memory allows",
    )
    learning_rate: float | None = Field(
        default=None,
        gt=0,
        description="the highest rate; unset: 2e-4, full 2e-5, for dpo 2e-5 and full 1e-6",
    )
    schedule: Literal["cosine", "linear", "constant"] = Field(
        default="cosine", description="how the rate goes on after the warm-up"
    )
    warmup: float = Field(
        default=0.05, ge=0, lt=1, description="the share of the steps in which the rate rises"
    )
    optimizer: Literal["adamw", "adamw_8bit", "paged_adamw_8bit", "adafactor", "sgd"] = Field(
        default="adamw", description="the 8-bit ones hold a quarter of AdamW's state, through bitsandbytes"
    )
    weight_decay: float = Field(default=0.01, ge=0, description="how much each step shrinks the weights")
    clip: float = Field(default=1.0, ge=0, description="the longest gradient, longer ones are cut; 0: none")
    sequence_length: int = Field(default=1024, gt=1, description="tokens a row; what is longer is cut off")
    packing: bool = Field(default=False, description="put several short rows into one sequence, sft only")
    answers_only: bool = Field(
        default=True, description="learn from what the assistant says, not from the questions"
    )
    dpo_beta: float = Field(default=0.1, gt=0, description="how close dpo stays to the base model")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        default="auto", description="the numbers computed with; auto: fp32 on a CPU, bf16 on a GPU that can"
    )
    gradient_checkpointing: bool | None = Field(
        default=None, description="compute activations twice to hold fewer; unset: if memory needs it"
    )
    compile: bool = Field(default=False, description="let torch compile the model; slow to start")
    spread: Literal["auto", "ddp", "fsdp2"] = Field(
        default="auto",
        description="a whole model a process (ddp) or a part (fsdp2); auto: ddp where it fits",
    )
    lora_rank: int = Field(default=16, gt=0, description="the width of LoRA's matrices")
    lora_alpha: float = Field(default=32.0, gt=0, description="LoRA's scale, divided by its rank")
    lora_dropout: float = Field(default=0.0, ge=0, lt=1, description="the share of LoRA's inputs dropped")
    lora_targets: Names = Field(
        default=("all-linear",), description="the layers LoRA is put on, by the end of their name"
    )
    merge: bool = Field(default=True, description="write the whole tuned model beside the adapter")
    push: str | None = Field(
        default=None,
        description="where the tuned model goes, too: a folder, pvc://, s3://BUCKET/PREFIX (gs, az), "
        "hf://ORG/NAME or oci://REGISTRY/NAME:TAG; what lets us in comes from the environment",
    )
    trust_remote_code: bool = Field(
        default=False, description="run the program that the model's folder brings; read it before"
    )
    seed: int = Field(default=7, ge=0, lt=1 << 32, description="makes a run repeatable")
    log_every: int = Field(default=10, gt=0, description="steps between two lines of progress")
    eval_every: int | None = Field(
        default=None, gt=0, description="steps between two looks at the held-out rows; unset: none"
    )
    early_stopping: int | None = Field(
        default=None, gt=0, description="stop after so many looks without a lower loss; needs eval_every"
    )
    save_every: int | None = Field(
        default=None,
        ge=0,
        description="steps between two checkpoints, where a restart goes on; 0: none; unset: a tenth of the "
        "run, 50 at least",
    )
    keep_checkpoints: int = Field(default=2, gt=0, description="checkpoints kept, the newest ones")
    report_to: Trackers = Field(
        default=(), description="tensorboard (events in output/tensorboard), mlflow (MLFLOW_TRACKING_URI)"
    )
    threads: int | None = Field(
        default=None,
        gt=0,
        le=1024,
        description="CPU threads a process computes with; unset: torch's own choice",
    )

    @property
    def rate(self) -> float:
        """The learning rate given, or the method's own."""
        return self.learning_rate or RATES[self.objective, "adapter" if self.has_adapter else "full"]

    @property
    def has_adapter(self) -> bool:
        """Whether the base stays as it is and an adapter is trained."""
        return self.method != "full"

    @property
    def digest(self) -> str:
        """SHA-256 of what was chosen; where the folders lie does not count."""
        chosen = self.model_dump_json(exclude={"model", "dataset", "output", "push"})
        return hashlib.sha256(chosen.encode()).hexdigest()

    @property
    def evaluates(self) -> bool:
        """Whether held-out rows are looked at during training."""
        return self.eval_every is not None

    @model_validator(mode="after")
    def _fit_together(self) -> FinetuneSettings:
        if self.objective == "dpo" and self.packing:
            raise ValueError("packing: dpo compares whole rows, leave packing out")
        if self.early_stopping and not self.evaluates:
            raise ValueError("early_stopping: nothing is looked at, give eval_every")
        if self.method == "qlora" and self.spread == "fsdp2":
            raise ValueError("spread: qlora's weights of 4 bits are not shared out, take ddp")
        if not self.has_adapter and not self.merge:
            raise ValueError("merge: full fine-tuning has no adapter, the whole model is all it writes")
        return self
