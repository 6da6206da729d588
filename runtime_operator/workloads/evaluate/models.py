"""Opens a model for lm-eval: a folder, an adapter on its base, or one that is served over HTTP.

lm-eval's model classes ask all of them alike. Prompts are always made by the base's own tokenizer and chat
template, so that base and tuned model read the very same text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...errors import SetupError, SpecError
from ..models import check_model, is_adapter, load_model, load_tokenizer

_SERVED = re.compile(r"https?://", re.IGNORECASE)


def is_served(model: str) -> bool:
    """Whether a model is named by the URL of its endpoint."""
    return bool(_SERVED.match(model))


def check_models(model: str, tuned: str | None) -> None:
    """Say in one sentence what keeps a model from being asked, before anything heavy is imported."""
    if not is_served(model):
        check_model(Path(model))
    if tuned is None or is_served(tuned):
        return
    folder = Path(tuned)
    if not folder.is_dir():
        raise SpecError(f"tuned: {folder} does not exist, give the merged or the adapter folder of a run")
    if not is_adapter(folder):
        check_model(folder, setting="tuned")
    elif is_served(model):
        raise SpecError(f"tuned: {folder} is an adapter and its base is served, give the merged folder")


def check_words(model: str, tuned: str | None) -> None:
    """Refuse a tuned model that reads tokens otherwise than the base, whose tokenizer makes the prompts."""
    if tuned is None or is_served(model) or is_served(tuned) or is_adapter(Path(tuned)):
        return
    files = [Path(each) / "tokenizer.json" for each in (model, tuned)]
    if all(file.is_file() for file in files) and files[0].read_bytes() == files[1].read_bytes():
        return
    if load_tokenizer(Path(model)).get_vocab() != load_tokenizer(Path(tuned)).get_vocab():
        raise SpecError(
            f"tuned: {tuned} has another vocabulary than {model}, and both are asked in the base's; "
            "evaluate each by itself"
        )


def open_model(model: str, *, base: str, batch_size: int, patience: float, seed: int) -> Any:
    """An lm-eval model; `base` is where its tokenizer is, and what an adapter is put on."""
    try:
        if is_served(model):
            return _open_served(model, at_once=batch_size, patience=patience, seed=seed)
        return _open_folder(Path(model), base, batch_size)
    except ModuleNotFoundError as error:
        text = "is not installed, and evaluation needs it; pip install 'kfp-trainer[local]'"
        raise SetupError(f"{error.name}: {text}") from error


def _open_folder(folder: Path, base: str, batch_size: int) -> Any:
    import torch
    from lm_eval.models.huggingface import HFLM

    of = folder if is_served(base) else Path(base)
    loaded = load_model(of, adapter=folder) if is_adapter(folder) else load_model(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return HFLM(
        pretrained=loaded.to(device).eval(),
        backend="causal",
        tokenizer=load_tokenizer(of),
        batch_size=batch_size,
        device=device,
        add_bos_token=False,  # the chat template has written it, where the model wants one
    )


def _open_served(model: str, *, at_once: int, patience: float, seed: int) -> Any:
    from .chat_client import ChatClient
    from .served import ServedModel

    url, _, name = model.partition("#")
    return ServedModel(ChatClient(url.rstrip("/"), name, patience=patience, seed=seed), at_once=at_once)
