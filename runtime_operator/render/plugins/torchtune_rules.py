"""What TorchTune has no recipe for, said before the job waits for GPUs.

Upstream reads the number of nodes and the resources of the TrainJob alone; by default those of the runtime
count as well, because they are what the pods get.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import FieldError
from ..accelerators import accelerators
from ..framework import Proposal
from ..processes import AUTO
from ..resources import proposed_resources
from .torchtune_recipes import MANAGED_KEYS, adapter_of, model_of, recipe_of

if TYPE_CHECKING:
    from ...api.trainjob import Trainer

QWEN, LLAMA_70B = "qwen2_5/1.5B", "llama3_3/70B"
SMALL_LLAMAS = ("llama3_2/1B", "llama3_2/3B")
MODELS = (*SMALL_LLAMAS, LLAMA_70B, QWEN)


def without_recipe(proposal: Proposal, trainer: Trainer) -> Iterator[FieldError]:
    """Every reason why this job has no recipe."""
    model, args = model_of(proposal.job.spec.runtimeRef.name), trainer.args or ()
    nodes = _nodes(proposal, trainer)
    if model not in MODELS:
        detail = f"must have a supported pretrained model, invalid model configured: {model}"
        yield FieldError("spec.runtimeRef.name", detail)
    if nodes > 1 and model != LLAMA_70B:
        yield FieldError("spec.trainer.numNodes", f"must be 1 for {model} model")
    yield from _qlora(proposal, trainer, model, nodes)
    if nodes > 1 and adapter_of(args):
        detail = "LoRA fine-tuning is not supported for multi-node training in TorchTune"
        yield FieldError("spec.trainer.numNodes", detail)
    for place, arg in enumerate(args):
        key = arg.partition("=")[0]
        if key in MANAGED_KEYS:
            detail = f'must not set immutable config "{key}" in trainer args; it is managed by the runtime'
            yield FieldError(f"spec.trainer.args[{place}]", detail)


def _nodes(proposal: Proposal, trainer: Trainer) -> int:
    policy = proposal.runtime.spec.mlPolicy
    of_the_runtime = policy.numNodes if policy is not None and not proposal.upstream else None
    return trainer.numNodes if trainer.numNodes is not None else of_the_runtime or 1


def _qlora(proposal: Proposal, trainer: Trainer, model: str, nodes: int) -> Iterator[FieldError]:
    devices = accelerators(proposed_resources(proposal), upstream=proposal.upstream)
    per_node = trainer.numProcPerNode if trainer.numProcPerNode is not None else AUTO
    _, suffix = recipe_of(nodes=nodes, per_node=per_node, devices=devices, args=trainer.args or ())
    if "_qlora" not in suffix:
        return
    if model == QWEN:
        yield FieldError("spec.runtimeRef.name", f"QLoRA is not supported for {QWEN} model")
    if model in SMALL_LLAMAS and not suffix.endswith("_single_device"):
        detail = f"must be auto or 1 for {model} model when using QLoRA"
        yield FieldError("spec.trainer.numProcPerNode", detail)
        detail = f"must have gpu resource with value 1 for {model} model when using QLoRA"
        yield FieldError("spec.trainer.resourcesPerNode", detail)
