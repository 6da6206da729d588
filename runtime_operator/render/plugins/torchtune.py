"""TorchTune: `tune run` of the job becomes a recipe with its configuration.

The model comes from the runtime's name, the recipe from devices, nodes and the adapter in the arguments:

  nodes  devices   adapter     recipe                        configuration
  1      one       QLoRA       lora_finetune_single_device   _qlora_single_device
  1      one       LoRA, DoRA  lora_finetune_single_device   _lora_single_device
  1      one       none        full_finetune_single_device   _full_single_device
  1      several   QLoRA       lora_finetune_distributed     _qlora
  1      several   LoRA, DoRA  lora_finetune_distributed     _lora
  1      several   none        full_finetune_distributed     _full
  more   any       any         full_finetune_distributed     _full_multinode

Settings in the runtime's own command follow. Upstream keeps four of them and drops the rest in silence; by
default all stay, but for a component (`dataset=…`) that the job's arguments choose anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...api.names import TRAINER_PORT
from ..framework import Plugin, Runtime
from ..info import Info
from ..processes import AUTO, Processes
from ..rendezvous import host
from ..resources import accelerator_count
from .torch import TUNE_RUN

if TYPE_CHECKING:
    from ..pods import Pods

MANAGED_KEYS = frozenset(
    ("output_dir", "tokenizer.path", "checkpointer.checkpoint_dir", "tokenizer.merges_file")
)
"""settings that only a runtime may make"""
_RECIPES = {
    # one device, adapter: recipe, configuration
    (True, "qlora"): ("lora_finetune_single_device", "_qlora_single_device"),
    (True, "lora"): ("lora_finetune_single_device", "_lora_single_device"),
    (True, ""): ("full_finetune_single_device", "_full_single_device"),
    (False, "qlora"): ("lora_finetune_distributed", "_qlora"),
    (False, "lora"): ("lora_finetune_distributed", "_lora"),
    (False, ""): ("full_finetune_distributed", "_full"),
}
_MULTI_NODE = ("full_finetune_distributed", "_full_multinode")


class TorchTune(Plugin):
    """Serves torch runtimes whose job says `tune run`."""

    name = "torchtune"
    after = ("torch",)

    def serves(self, runtime: Runtime) -> bool:
        """Only torch."""
        policy = runtime.spec.mlPolicy
        return policy is not None and policy.torch is not None

    def enforce_ml_policy(self, info: Info) -> None:
        """Write out the command of a job that leaves the recipe to its runtime."""
        trainer, pods = info.job.spec.trainer, info.trainer
        if trainer is None or trainer.command != TUNE_RUN or pods is None or pods.main is None:
            return
        args = trainer.args or ()
        devices, per_node = accelerator_count(info, pods), processes_of(info, pods)
        recipe, suffix = recipe_of(nodes=pods.count, per_node=per_node, devices=devices, args=args)
        command = [*TUNE_RUN]
        if pods.count > 1 or (devices > 1 if per_node == AUTO else int(per_node) > 1):
            command.append(f"--rdzv_endpoint={host(info)}:{TRAINER_PORT}")
        own = pods.main.source.get("command") or ()
        settings = _settings(own, args, upstream=info.upstream)
        config = model_of(info.job.spec.runtimeRef.name) + suffix
        pods.main.put("command", [*command, recipe, "--config", config, *settings])
        info.decide(
            "recipe",
            recipe,
            "%s nodes, %s devices, %s",
            pods.count,
            devices,
            adapter_of(args) or "no adapter",
        )


def processes_of(info: Info, pods: Pods) -> Processes:
    """The number of processes that torch has decided on."""
    assert pods.main is not None  # the caller has looked
    entry = pods.main.env("PET_NPROC_PER_NODE")
    value = str(entry["value"]) if entry is not None else AUTO
    return AUTO if value == AUTO else int(value)


def model_of(runtime: str) -> str:
    """The model that a runtime is named after: `torchtune-llama3.2-1b` is `llama3_2/1B`."""
    parts = runtime.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def adapter_of(args: Sequence[str]) -> str:
    """What the arguments train: `qlora`, `lora` (DoRA as well), or everything."""
    if not any("model.lora_attn_modules" in arg for arg in args):
        return ""
    return (
        "qlora" if _is_true(args, "model.quantize_base") and not _is_true(args, "model.use_dora") else "lora"
    )


def recipe_of(*, nodes: int, per_node: Processes, devices: int, args: Sequence[str]) -> tuple[str, str]:
    """The recipe, and the ending of its configuration's name."""
    if nodes > 1:
        return _MULTI_NODE
    return _RECIPES[per_node == 1 or devices == 1, adapter_of(args)]


def _is_true(args: Sequence[str], key: str) -> bool:
    pairs = (arg.partition("=") for arg in args)
    return any(key in name and value.lower() == "true" for name, _, value in pairs)


def _settings(command: Sequence[str], args: Sequence[str], *, upstream: bool) -> Iterator[str]:
    chosen = {arg.partition("=")[0] for arg in args}
    for word in command:
        key, equals, _ = word.partition("=")
        if not equals or key.startswith("-"):
            continue
        if key in MANAGED_KEYS or not (upstream or key.split(".")[0] in chosen):
            yield word
