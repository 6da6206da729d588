"""The pipelines and components of this project, by the name a person gives them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kfp_trainer.runtime_operator.errors import SpecError

# name -> what it does; each is the function of its name in the package of its name
PIPELINES = {
    "finetune_llm": "Fetch, fine-tune, compare with the base, gate, export.",
    "finetune_sweep": "The same with several settings side by side; the best model goes on.",
    "distributed_training": "Run your own image or script on several nodes, on any runtime.",
    "evaluate_only": "Compare two models that are there already.",
}


def load_pipeline(name: str) -> Any:
    """Import a pipeline; kfp gives it no type of its own."""
    if name not in PIPELINES:
        raise SpecError(f"there is no pipeline {name!r}; there are {', '.join(PIPELINES)}")
    return getattr(import_module(f"kfp_trainer.pipelines.{name}.pipeline"), name)


def load_component(name: str) -> Any:
    """Import a component, to run alone."""
    from kfp_trainer import components

    if name not in components.COMPONENTS:
        raise SpecError(f"there is no component {name!r}; there are {', '.join(components.COMPONENTS)}")
    return getattr(components, name)
