"""Which of TorchTune's recipes and configurations a job runs.

The model comes from the runtime's name, the recipe from devices, nodes and the adapter in the arguments:

  nodes  devices   adapter     recipe                        configuration
  1      one       QLoRA       lora_finetune_single_device   _qlora_single_device
  1      one       LoRA, DoRA  lora_finetune_single_device   _lora_single_device
  1      one       none        full_finetune_single_device   _full_single_device
  1      several   QLoRA       lora_finetune_distributed     _qlora
  1      several   LoRA, DoRA  lora_finetune_distributed     _lora
  1      several   none        full_finetune_distributed     _full
  more   any       any         full_finetune_distributed     _full_multinode
"""

from __future__ import annotations

from collections.abc import Sequence

from ..processes import Processes

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


def model_of(runtime: str) -> str:
    """The model that a runtime is named after: `torchtune-llama3.2-1b` is `llama3_2/1B`."""
    parts = runtime.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def adapter_of(args: Sequence[str]) -> str:
    """What the arguments train: `qlora`, `lora` (DoRA as well), or everything."""
    if _is_true(args, "model.quantize_base") and not _is_true(args, "model.use_dora"):
        return "qlora"
    return "lora" if any("model.lora_attn_modules" in arg for arg in args) else ""


def recipe_of(*, nodes: int, per_node: Processes, devices: int, args: Sequence[str]) -> tuple[str, str]:
    """The recipe, and the ending of its configuration's name."""
    if nodes > 1:
        return _MULTI_NODE
    if nodes < 1:  # upstream admits it
        return _RECIPES[False, ""]
    return _RECIPES[per_node == 1 or devices == 1, adapter_of(args)]


def _is_true(args: Sequence[str], key: str) -> bool:
    pairs = (arg.partition("=") for arg in args)
    return any(key in name and value.lower() == "true" for name, _, value in pairs)
