"""A LoRA adapter of TorchTune, as PEFT reads it.

TorchTune keeps the heads of a Llama's queries and keys in another order than Hugging Face does; what acts on
their outputs (B, and DoRA's lengths) is put back into order. Qwen is kept as it comes. The library's own
conversion reorders Qwen as well and forgets DoRA's lengths, so that it is not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..settings import FinetuneSettings
from .checks import FEED_FORWARD
from .shape import Shape

LAYERS = {
    "attn.q_proj": "self_attn.q_proj",
    "attn.k_proj": "self_attn.k_proj",
    "attn.v_proj": "self_attn.v_proj",
    "attn.output_proj": "self_attn.o_proj",
    "mlp.w1": "mlp.gate_proj",
    "mlp.w2": "mlp.down_proj",
    "mlp.w3": "mlp.up_proj",
}
PARTS = {
    "lora_a.weight": "lora_A.weight",
    "lora_b.weight": "lora_B.weight",
    "magnitude": "lora_magnitude_vector",
}


def peft_name(name: str) -> str:
    """`layers.3.attn.q_proj.lora_a.weight` as PEFT calls it."""
    _, number, rest = name.split(".", 2)
    layer = next(each for each in LAYERS if rest.startswith(f"{each}."))
    return f"base_model.model.model.layers.{number}.{LAYERS[layer]}.{PARTS[rest[len(layer) + 1 :]]}"


def write_adapter(folder: Path, trained: Path, settings: FinetuneSettings, *, shape: Shape) -> None:
    """Write the adapter in TorchTune's file `trained` to `folder`."""
    import torch
    from peft import LoraConfig
    from safetensors.torch import save_file

    weights = torch.load(trained, map_location="cpu", weights_only=True)
    named = {peft_name(name): _ordered(name, value, shape) for name, value in weights.items()}
    save_file(named, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    layers = {name.split(".layers.")[1].split(".")[2] for name in named}
    LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        use_dora=settings.method == "dora",
        target_modules=sorted(layers, key=lambda layer: (layer in FEED_FORWARD, layer)),
        base_model_name_or_path=str(settings.model),
        task_type="CAUSAL_LM",
        inference_mode=True,
    ).save_pretrained(folder)


def _ordered(name: str, value: Any, shape: Shape) -> Any:
    heads = {"q_proj": shape.heads, "k_proj": shape.key_heads}.get(name.split(".")[3])
    if shape.family != "llama" or heads is None or name.endswith("lora_a.weight"):
        return value.contiguous()
    rows = value.shape[0]
    split = value.reshape(heads, rows // heads // 2, 2, -1).transpose(1, 2)
    return split.reshape(value.shape).contiguous()
