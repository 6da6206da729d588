"""What a run leaves: `adapter/` and `merged/` apart, whatever TorchTune has put into one folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from ...files import new_folder
from ..outputs import ADAPTER, MERGED
from ..settings import FinetuneSettings
from .adapter import write_adapter
from .shape import Shape

INDEX = "model.safetensors.index.json"
KEPT = ("model*.safetensors", INDEX)


def save_outputs(epoch: Path, settings: FinetuneSettings, *, shape: Shape) -> None:
    """Make the run's outputs of the files of its last epoch."""
    if not settings.has_adapter:
        _take_whole(epoch, settings)
        return
    with new_folder(settings.output / ADAPTER) as part:
        write_adapter(part, epoch / "adapter_model.pt", settings, shape=shape)
    if settings.merge:
        _merge(settings)
    else:
        shutil.rmtree(settings.output / MERGED, ignore_errors=True)


def parameters_of(epoch: Path) -> int:
    """How many numbers were trained, from the files of an epoch."""
    from ..heads import read_head

    trained = epoch / "adapter_model.pt"
    if trained.is_file():
        import torch

        weights = torch.load(trained, map_location="cpu", weights_only=True)
        return sum(int(value.numel()) for value in weights.values())
    return sum(tensor.size for file in epoch.glob("model*.safetensors") for tensor in read_head(file))


def _take_whole(epoch: Path, settings: FinetuneSettings) -> None:
    with new_folder(settings.output / MERGED) as part:
        weights = [file for pattern in KEPT for file in sorted(epoch.glob(pattern))]
        for file in weights:
            shutil.move(file, part / file.name)
        config = json.loads((settings.model / "config.json").read_bytes())
        kind = _kind_of(next(part.glob("model*.safetensors")))
        config.update({name: kind for name in ("dtype", "torch_dtype") if name in config} or {"dtype": kind})
        (part / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        _save_tokenizer(settings, part)


def _merge(settings: FinetuneSettings) -> None:
    """The adapter on the original weights, read anew."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(
        settings.model, dtype="auto", local_files_only=True, use_safetensors=True
    )
    merged = PeftModel.from_pretrained(model, settings.output / ADAPTER).merge_and_unload()
    with new_folder(settings.output / MERGED) as part:
        merged.save_pretrained(part, safe_serialization=True)
        _save_tokenizer(settings, part)


def _save_tokenizer(settings: FinetuneSettings, folder: Path) -> None:
    from ...models import load_tokenizer

    load_tokenizer(settings.model).save_pretrained(folder)


def _kind_of(file: Path) -> str:
    from safetensors import safe_open

    with safe_open(file, framework="pt") as weights:
        return str(weights.get_tensor(next(iter(weights.keys()))).dtype).removeprefix("torch.")
