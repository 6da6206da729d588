"""Llamas of any shape with random weights, made on the spot, and rows to train them on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.workloads.tiny import messages as world
from kfp_trainer.runtime_operator.workloads.tiny.tokenizer import make_tokenizer

SMALL: dict[str, Any] = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "intermediate_size": 1024,
    "vocab_size": 4096,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
}
EIGHT_BILLION: dict[str, Any] = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
}


def make_llama(
    folder: Path, shape: Mapping[str, Any], *, device: str = "cpu", precision: str = "fp32"
) -> Path:
    """Write the model and a tokenizer of few tokens into `folder`."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    stream = list(islice(world.messages(1), 400))
    tokenizer = make_tokenizer([text for message in stream for text in world.instruction(message)])
    config = LlamaConfig(
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype={"fp32": torch.float32, "bf16": torch.bfloat16}[precision],
        **shape,
    )
    with torch.device(device):
        model = LlamaForCausalLM(config).to(config.dtype)
    model.save_pretrained(folder, max_shard_size="4GB")
    tokenizer.save_pretrained(folder)
    return folder


def long_rows(folder: Path, *, rows: int, words: int) -> Path:
    """Write rows of plain text, each of them so many words long at least."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "train.jsonl").open("w", encoding="utf-8") as out:
        for number in range(rows):
            text, seed = "", 1000 * number
            while text.count(" ") < words:
                seed += 1
                text += " ".join(
                    " ".join(world.instruction(each)) for each in islice(world.messages(seed), 40)
                )
            out.write(json.dumps({"text": text}) + "\n")
    return folder
