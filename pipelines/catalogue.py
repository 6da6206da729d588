"""The pipelines of this project, by the name a person gives them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kfp_trainer.runtime_operator.errors import SpecError

# name -> (module, function, what it does)
PIPELINES = {
    "finetune_llm": (
        "kfp_trainer.pipelines.finetune_llm.pipeline",
        "finetune_llm",
        "Fine-tune a language model and compare it with its base.",
    ),
}


def load_pipeline(name: str) -> Any:
    """Import a pipeline; kfp gives it no type of its own."""
    if name not in PIPELINES:
        raise SpecError(f"there is no pipeline {name!r}; there are {', '.join(PIPELINES)}")
    module, function, _ = PIPELINES[name]
    return getattr(import_module(module), function)
