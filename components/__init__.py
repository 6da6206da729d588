"""Components for Kubeflow Pipelines: one folder a component, each a short typed function over the library.

    from kfp_trainer.components import fetch_model, finetune_llm

A name is imported when it is asked for: kfp is not loaded before.
"""

from importlib import import_module
from typing import Any

COMPONENTS = {
    "check_dataset": "data_processing",
    "delete_train_jobs": "training",
    "evaluate_llm": "evaluation",
    "export_model": "deployment",
    "fetch_dataset": "data_processing",
    "fetch_model": "data_processing",
    "finetune_llm": "training",
    "gate_model": "evaluation",
    "launch_train_job": "training",
    "register_model": "deployment",
    "select_model": "evaluation",
    "train_job": "training",
    "wait_train_job": "training",
}
"""name -> category"""


def __getattr__(name: str) -> Any:
    """Import a component."""
    if name not in COMPONENTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{COMPONENTS[name]}.{name}", __name__), name)
