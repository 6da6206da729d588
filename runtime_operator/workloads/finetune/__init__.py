"""Fine-tune a causal language model on a folder of data.

`finetune(FinetuneSettings(...))` is the whole of it; `python -m
kfp_trainer.runtime_operator.workloads.finetune` is the same as a container's command, alone or under
torchrun.
"""

from .result import FinetuneResult
from .run import finetune
from .settings import FinetuneSettings

__all__ = ["FinetuneResult", "FinetuneSettings", "finetune"]
