"""Measure a model on held-out data, base and tuned side by side.

`evaluate(EvaluateSettings(...))` is the whole of it; `python -m
kfp_trainer.runtime_operator.workloads.evaluate` is the same as a command.
"""

from .comparison import Evaluation, Sample
from .run import evaluate
from .settings import EvaluateSettings

__all__ = ["EvaluateSettings", "Evaluation", "Sample", "evaluate"]
