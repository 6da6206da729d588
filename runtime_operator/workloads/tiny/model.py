"""The demo's base model: a Llama of half a million parameters that has read the small world's messages.

LoRA on random weights learns next to nothing, so the base is trained first, all of it, for a fixed number
of steps (some twenty seconds on two cores) on the general questions of `messages.py`: repeat the message,
what is it about, is it urgent. It never sees the `queue | urgency` line, and scores 0 on it.
This is a toy that shows the path, not a language model; its scores say nothing about large ones.

The result depends on the recipe alone; a folder that holds the same recipe's model is left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from ..files import new_folder
from ..quiet import quiet_libraries
from . import messages as world
from .tokenizer import chat, make_tokenizer

SEED = 1
ROWS = 6400
STEPS = 200
BATCH = 32
RATE = 4e-3
WARMUP = 20
SHAPE = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 384,
    "max_position_embeddings": 256,
    "initializer_range": 0.06,  # wide: the copying heads form within the first hundred steps
    "tie_word_embeddings": True,
}
RECIPE_FILE = "recipe.json"


def make_tiny_model(folder: Path) -> Path:
    """Make the base model in `folder`, unless it is there already."""
    recipe = _recipe()
    if (folder / RECIPE_FILE).is_file() and (folder / RECIPE_FILE).read_text(encoding="utf-8") == recipe:
        return folder
    quiet_libraries()
    stream = list(islice(world.messages(SEED), ROWS))
    random = Random(SEED)
    rows = [world.general(message, random) for message in stream]
    words = [message.label for message in stream]  # so that a label's words are one piece each, too
    tokenizer = make_tokenizer([text for row in rows for text in row] + words)
    with _one_thread():
        model = _trained(tokenizer, rows)
    with new_folder(folder) as part:
        model.save_pretrained(part)
        tokenizer.save_pretrained(part)
        (part / RECIPE_FILE).write_text(recipe, encoding="utf-8")
    return folder


def _recipe() -> str:
    here = Path(__file__).parent
    sources = b"".join((here / name).read_bytes() for name in ("messages.py", "tokenizer.py", "model.py"))
    return json.dumps({"made_by": "kfp-trainer", "recipe": hashlib.sha256(sources).hexdigest()}) + "\n"


def _trained(tokenizer: Any, rows: list[tuple[str, str]]) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **SHAPE,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARMUP) * (1 - 0.9 * step / STEPS)
    )
    examples = _examples(tokenizer, rows)
    for step in range(STEPS):
        first = step * BATCH
        batch = [examples[index % len(examples)] for index in range(first, first + BATCH)]
        model(**_padded(batch, tokenizer.pad_token_id)).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return model


@contextmanager
def _one_thread() -> Iterator[None]:
    """As fast at this size, and the same weights whatever the number of cores."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _examples(tokenizer: Any, rows: list[tuple[str, str]]) -> list[tuple[list[int], int]]:
    """The tokens of each row and how many of them are the question, on which no loss is taken."""
    texts = [tokenizer.apply_chat_template(chat(*row), tokenize=False) for row in rows]
    questions = [
        tokenizer.apply_chat_template(chat(row[0]), tokenize=False, add_generation_prompt=True)
        for row in rows
    ]
    lengths = [len(tokens) for tokens in tokenizer(questions)["input_ids"]]
    return list(zip(tokenizer(texts)["input_ids"], lengths, strict=True))


def _padded(batch: list[tuple[list[int], int]], pad: int) -> dict[str, Any]:
    import torch

    longest = max(len(tokens) for tokens, _ in batch)
    inputs = torch.full((len(batch), longest), pad)
    labels = torch.full((len(batch), longest), -100)
    for row, (tokens, question) in enumerate(batch):
        inputs[row, : len(tokens)] = torch.tensor(tokens)
        labels[row, question : len(tokens)] = torch.tensor(tokens[question:])
    return {"input_ids": inputs, "labels": labels}
