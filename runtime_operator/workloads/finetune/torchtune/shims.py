"""What TorchTune 0.6.1 needs to be right on this torch, on this torchao and on a CPU; undone afterwards.

fault                                                       mended by
torchao 0.16 and newer moved or dropped what is imported    `import_torchtune`: names that lead there
the distributed LoRA recipe insists on NCCL                 gloo where there is no GPU
the distributed recipes ask a CPU for its memory            nothing is told
merging LoRA on a CPU adds to the weights being trained     a copy is merged
a resumed LoRA run begins its steps and its rate anew       both go on (`Pace`, `mend_recipe`)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MOVED = "torchao.quantization.quantize_.workflows.nf4.nf4_tensor"
GONE = {
    "torchao.quantization": ("int4_weight_only", "int8_dynamic_activation_int4_weight"),
    "torchao.dtypes": ("TensorCoreTiledLayout",),
}


@dataclass(frozen=True, slots=True)
class Pace:
    """How many steps an epoch has, and the last one, which may be shorter."""

    epochs: int
    steps: int
    last: int

    @property
    def total(self) -> int:
        """The steps of the whole run."""
        return (self.epochs - 1) * self.steps + self.last


def import_torchtune() -> Any:
    """TorchTune, whatever torchao is beside it."""
    if "torchtune" not in sys.modules:
        _lead_to_nf4()
        for module, names in GONE.items():
            for name in names:
                if not hasattr(importlib.import_module(module), name):
                    setattr(importlib.import_module(module), name, _dropped)
    return importlib.import_module("torchtune")


@contextmanager
def mended() -> Iterator[None]:
    """TorchTune and torch as the recipes need them."""
    import torch

    import_torchtune()
    peft = importlib.import_module("torchtune.modules.peft")
    changes: list[tuple[Any, str, Any]] = [
        (peft, "get_merged_lora_ckpt", _merge_a_copy(peft.get_merged_lora_ckpt))
    ]
    if not torch.cuda.is_available():
        changes += _for_a_cpu(torch)
    before = [(owner, name, getattr(owner, name, None)) for owner, name, _ in changes]
    for owner, name, value in changes:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            delattr(owner, name) if value is None else setattr(owner, name, value)


def mend_recipe(recipe: Any, *, pace: Pace | None) -> None:
    """Let the steps of a resumed run go on, and end where `pace` says; each run has a class of its own."""
    plain = recipe._setup_lr_scheduler

    def resumed(self: Any, *args: Any, **named: Any) -> Any:
        if self._resume_from_checkpoint:
            self.global_step = self.epochs_run * (pace.steps if pace else self._steps_per_epoch)
            named["last_epoch"] = self.global_step - 1
        return plain(self, *args, **named)

    recipe._setup_lr_scheduler = resumed
    if pace:
        # the recipes ask at every step; what they or a checkpoint set is the same or outdated
        recipe.max_steps_per_epoch = property(
            lambda self: pace.last if self.epochs_run >= pace.epochs - 1 else pace.steps,
            lambda self, value: None,
        )


def _lead_to_nf4() -> None:
    old = "torchao.dtypes.nf4tensor"
    try:
        importlib.import_module(old)
    except ModuleNotFoundError:
        nf4 = importlib.import_module(MOVED)
        sys.modules[old] = nf4
        importlib.import_module("torchao.dtypes").nf4tensor = nf4  # type: ignore[attr-defined]


def _dropped(*args: Any, **named: Any) -> None:
    raise NotImplementedError("this torchao has it no more, and no recipe for full, LoRA or QLoRA needs it")


def _merge_a_copy(merge: Callable[..., Any]) -> Callable[..., Any]:
    def merged(state: dict[str, Any], *args: Any, **named: Any) -> Any:
        copies = {name: value.clone() if hasattr(value, "clone") else value for name, value in state.items()}
        return merge(copies, *args, **named)

    return merged


def _for_a_cpu(torch: Any) -> list[tuple[Any, str, Any]]:
    training = importlib.import_module("torchtune.training")
    group = importlib.import_module("torch.distributed.distributed_c10d")
    start = group.init_process_group

    def with_gloo(backend: Any = None, *args: Any, **named: Any) -> Any:
        return start("gloo" if "nccl" in str(backend) else backend, *args, **named)

    return [
        (torch.distributed, "init_process_group", with_gloo),
        (group, "init_process_group", with_gloo),
        (training, "get_memory_stats", lambda *args, **named: {}),
        (training, "log_memory_stats", lambda *args, **named: None),
        (torch.cpu, "empty_cache", lambda: None),
        (torch.cpu, "reset_peak_memory_stats", lambda *args: None),
    ]
