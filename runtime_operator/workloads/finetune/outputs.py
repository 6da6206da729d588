"""What a run writes: `adapter/` and `merged/` apart, so that nothing loads an adapter twice; each at once.

`merged/` holds a whole model. After full fine-tuning it is simply the trained one. An adapter on weights of
4 bits, or on weights that are shared out, is merged into the original weights, read anew.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ..files import new_folder
from .plan import Plan
from .settings import FinetuneSettings

ADAPTER, MERGED, CHECKPOINTS = "adapter", "merged", "checkpoints"


def clear_leftovers(output: Path) -> None:
    """Remove what a killed run of this folder was writing when it died."""
    for part in (*output.glob(".*.part-*"), *output.glob(".*.old-*")):
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def save_outputs(trainer: Any, settings: FinetuneSettings, plan: Plan) -> None:
    """Save what was trained; every process calls this and the first one writes."""
    shared = plan.spread == "fsdp2"
    weights = trainer.accelerator.get_state_dict(trainer.model) if shared else None
    if not trainer.accelerator.is_main_process:
        return
    model = trainer.accelerator.unwrap_model(trainer.model)
    tokenizer, output = trainer.processing_class, settings.output
    given = {"state_dict": weights} if weights is not None else {}
    if not settings.has_adapter:
        _save(model, tokenizer, output / MERGED, **given)
        return
    with new_folder(output / ADAPTER) as part:
        model.save_pretrained(part, safe_serialization=True, **given)
        (part / "README.md").unlink(missing_ok=True)  # PEFT's empty form of a model card
    if not settings.merge:
        shutil.rmtree(output / MERGED, ignore_errors=True)
        return
    if shared or plan.weights == "nf4":
        model = _adapted(settings, output / ADAPTER)
    _save(model.merge_and_unload(), tokenizer, output / MERGED)


def _save(model: Any, tokenizer: Any, folder: Path, **given: Any) -> None:
    with new_folder(folder) as part:
        model.save_pretrained(part, safe_serialization=True, **given)
        tokenizer.save_pretrained(part)


def _adapted(settings: FinetuneSettings, adapter: Path) -> Any:
    """The original weights with the adapter on them, on the CPU."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(
        settings.model,
        dtype="auto",
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=settings.trust_remote_code,
    )
    return PeftModel.from_pretrained(model, adapter)
