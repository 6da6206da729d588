"""Loads the base model as the plan holds it, and what is put beside it."""

from __future__ import annotations

import os
from typing import Any

from ...errors import SpecError
from .plan import Plan
from .settings import FinetuneSettings


def load_base(settings: FinetuneSettings, plan: Plan) -> Any:
    """The base model, of 4 bits for QLoRA."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    held = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    more: dict[str, Any] = {}
    if plan.weights == "nf4":
        more = {"quantization_config": _four_bits(held[plan.precision])}
        if plan.device == "gpu":
            more["device_map"] = {"": int(os.environ.get("LOCAL_RANK", "0"))}
    try:
        model, told = AutoModelForCausalLM.from_pretrained(
            settings.model,
            dtype=held[plan.precision if plan.weights == "nf4" else plan.weights],
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=settings.trust_remote_code,
            output_loading_info=True,
            **more,
        )
    except torch.OutOfMemoryError:
        raise
    except (ValueError, OSError, RuntimeError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        text = " ".join(str(error).split())[:300]
        raise SpecError(f"model: {settings.model} cannot be loaded, {text}") from error
    if told["missing_keys"]:  # the library makes them up at random and goes on
        missing = sorted(told["missing_keys"])
        raise SpecError(
            f"model: {settings.model} lacks {len(missing)} weights, such as {missing[0]}, fetch it again"
        )
    return model


def adapter_config(settings: FinetuneSettings) -> Any:
    """What PEFT makes the adapter of; none for full fine-tuning."""
    from peft import LoraConfig

    if not settings.has_adapter:
        return None
    targets = settings.lora_targets
    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        use_dora=settings.method == "dora",
        target_modules="all-linear" if targets == ("all-linear",) else list(targets),
        task_type="CAUSAL_LM",
    )


def _four_bits(computed: Any) -> Any:
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=computed,
    )
