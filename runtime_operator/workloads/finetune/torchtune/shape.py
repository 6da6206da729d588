"""Which of TorchTune's model builders makes a Hugging Face model, and with what: from its config.json alone.

One builder serves every Llama: that of Llama 3.2 scales the rotary frequencies, by 1 where a model does not,
and ties the embeddings or not. What a builder cannot make (another family, biases, heads of another width,
another scaling) is refused here; a model that is built a little wrong would train and be worthless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import SpecError

BUILDERS = {
    "llama": ("torchtune.models.llama3_2.llama3_2", "torchtune.models.llama3_2.lora_llama3_2", "LLAMA3_2"),
    "qwen2": ("torchtune.models.qwen2.qwen2", "torchtune.models.qwen2.lora_qwen2", "QWEN2"),
}
LLAMA3_SCALING = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
"""what TorchTune's scaled rotary embedding holds fixed"""


@dataclass(frozen=True, slots=True)
class Shape:
    """A model as TorchTune builds it."""

    family: str
    full: str
    adapted: str
    checkpoint: str
    """the kind of checkpoint that TorchTune converts from and to"""
    heads: int
    key_heads: int
    width: int
    arguments: dict[str, int | float | bool]


def shape_of(config: Mapping[str, Any], *, tokens: int) -> Shape:
    """The builder of a model whose rows are at most `tokens` long; SpecError where there is none."""
    family = str(config.get("model_type"))
    if family not in BUILDERS:
        names = " and ".join(BUILDERS)
        raise SpecError(f"backend: torchtune trains models of type {names}, not {family}; take trl")
    _check(config, family)
    rope = config.get("rope_parameters") or {**(config.get("rope_scaling") or {})}
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    arguments: dict[str, int | float | bool] = {
        "vocab_size": int(config["vocab_size"]),
        "num_layers": int(config["num_hidden_layers"]),
        "num_heads": heads,
        "num_kv_heads": int(config.get("num_key_value_heads") or heads),
        "embed_dim": width,
        "intermediate_dim": int(config["intermediate_size"]),
        "max_seq_len": tokens,
        "norm_eps": float(config.get("rms_norm_eps", 1e-6)),
        "rope_base": float(rope.get("rope_theta") or config.get("rope_theta") or 10000.0),
        "tie_word_embeddings": bool(config.get("tie_word_embeddings", False)),
    }
    if family == "llama":
        arguments["scale_factor"] = _scale(rope)
    elif _kind(rope) != "default":
        raise _not_made(f"rope scaling {_kind(rope)}")
    full, adapted, checkpoint = BUILDERS[family]
    key_heads = int(arguments["num_kv_heads"])
    return Shape(family, full, adapted, checkpoint, heads, key_heads, width, arguments)


def _check(config: Mapping[str, Any], family: str) -> None:
    width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    if (config.get("head_dim") or width // heads) * heads != width:
        raise _not_made(f"heads of {config.get('head_dim')} numbers in a width of {width}")
    for name in ("attention_bias", "mlp_bias"):
        if family == "llama" and config.get(name):
            raise _not_made(name)
    if config.get("use_sliding_window"):
        raise _not_made("use_sliding_window")
    if config.get("hidden_act", "silu") != "silu":
        raise _not_made(f"hidden_act {config['hidden_act']}")


def _scale(rope: Mapping[str, Any]) -> float:
    kind = _kind(rope)
    if kind == "default":
        return 1
    if kind != "llama3":
        raise _not_made(f"rope scaling {kind}")
    for name, value in LLAMA3_SCALING.items():
        if float(rope.get(name, value)) != value:
            raise _not_made(f"{name} {rope[name]}")
    return float(rope["factor"])


def _kind(rope: Mapping[str, Any]) -> str:
    return str(rope.get("rope_type") or rope.get("type") or "default")


def _not_made(what: str) -> SpecError:
    return SpecError(f"backend: torchtune builds no model with {what}, take trl")
