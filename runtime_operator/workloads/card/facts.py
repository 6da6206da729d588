"""What a model card is written from: the run, its inputs' origins and, once there is one, an evaluation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from .origin import Origin, read_origin

if TYPE_CHECKING:
    from ..evaluate.comparison import Evaluation
    from ..finetune.result import FinetuneResult

PLACES = {"model", "dataset", "output", "push"}
METHODS = {"lora": "LoRA", "qlora": "QLoRA", "dora": "DoRA", "full": "full fine-tuning"}
OBJECTIVES = {"sft": "to give the answers of", "dpo": "to prefer the better answers of"}


@dataclass(frozen=True, slots=True)
class CardFacts:
    """All that a card may say."""

    run: FinetuneResult
    base: Origin
    dataset: Origin
    code: str
    """the version of this program"""
    evaluation: Evaluation | None = None
    judged: Origin | None = None
    """the rows that the evaluation asked, if it asked any"""

    @property
    def name(self) -> str:
        """What the tuned model is called."""
        return f"{self.base.name}, tuned on {self.dataset.name}"

    @property
    def settings_digest(self) -> str:
        """The SHA-256 of the settings, without the folders of the machine that they named."""
        return hashlib.sha256(self.run.settings.model_dump_json(exclude=PLACES).encode()).hexdigest()


def read_facts(run: FinetuneResult, evaluation: Evaluation | None = None) -> CardFacts:
    """The facts of a run, with what its inputs' folders tell of themselves."""
    settings, asked = run.settings, evaluation.settings.dataset if evaluation else None
    return CardFacts(
        run=run,
        base=read_origin(settings.model),
        dataset=read_origin(settings.dataset),
        code=version("kfp-trainer"),
        evaluation=evaluation,
        judged=read_origin(asked) if asked else None,
    )
