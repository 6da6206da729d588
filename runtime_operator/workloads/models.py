"""Model folders: what one must hold before we load it, and loading it the one way we allow.

Only local folders, only safetensors, no code from the folder. What a folder lacks is said before torch is
imported, so that the answer comes in a second. A folder with both a whole model and an adapter is refused:
transformers would put the adapter on top of weights that already contain it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import SpecError


def check_model(folder: Path, *, setting: str = "model", chats: bool = True) -> None:
    """Say in one sentence what keeps `folder` from being a model we can load; `chats`: with a template."""
    if not folder.is_dir():
        raise SpecError(f"{setting}: {folder} does not exist, give a folder with a Hugging Face model")
    if is_adapter(folder):
        raise SpecError(f"{setting}: {folder} is an adapter alone, give the whole model")
    if not (folder / "config.json").is_file():
        raise SpecError(f"{setting}: {folder} has no config.json, give a folder with a Hugging Face model")
    if not any(folder.glob("*.safetensors")):
        raise SpecError(
            f"{setting}: {folder} has no *.safetensors, convert its weights (pickles are not read)"
        )
    if (folder / "adapter_config.json").is_file():
        raise SpecError(f"{setting}: {folder} holds a model and an adapter, keep them in separate folders")
    _check_tokenizer(folder, setting, chats=chats)


def is_adapter(folder: Path) -> bool:
    """Whether `folder` holds a LoRA adapter rather than a whole model."""
    return (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file()


def load_tokenizer(folder: Path) -> Any:
    """The folder's tokenizer, with something to pad with."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise SpecError(f"model: the tokenizer of {folder} cannot be loaded, {text}") from error
    if tokenizer.eos_token is None:
        raise SpecError(
            f"model: the tokenizer of {folder} names no eos_token, which ends an answer, name it in "
            "tokenizer_config.json"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(folder: Path, *, adapter: Path | None = None) -> Any:
    """The folder's model in this machine's precision, with an adapter on top if one is given."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, local_files_only=True, use_safetensors=True
        )
    except (ValueError, OSError, RuntimeError, SafetensorError) as error:
        raise SpecError(f"model: {folder} cannot be loaded, {' '.join(str(error).split())[:300]}") from error
    if adapter is None:
        return model
    from peft import PeftModel

    return PeftModel.from_pretrained(model, adapter)


def _check_tokenizer(folder: Path, setting: str, *, chats: bool) -> None:
    config = folder / "tokenizer_config.json"
    if not config.is_file():
        raise SpecError(
            f"{setting}: {folder} has no tokenizer_config.json, put the tokenizer beside the weights"
        )
    try:
        in_config = "chat_template" in dict(json.loads(config.read_bytes()))
    except (ValueError, TypeError):
        raise SpecError(f"{setting}: {config} is no JSON mapping or a damaged one, fetch it again") from None
    if chats and not in_config and not any(folder.glob("chat_template.j*")):
        raise SpecError(
            f"{setting}: {folder} has no chat template, add chat_template.jinja or use a chat model"
        )
