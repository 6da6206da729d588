"""A model's greedy answers to the rows' questions, through its own chat template, many at once.

Questions are answered in order of length, so that little of a batch is padding, and given back in their own
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def answer_all(
    model: Any, tokenizer: Any, prompts: Sequence[str], *, batch_size: int, max_new_tokens: int
) -> list[str]:
    """One answer a prompt, in the order of the prompts."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).eval()
    tokenizer.padding_side = "left"
    texts = [_as_chat(tokenizer, prompt) for prompt in prompts]
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    answers = [""] * len(texts)
    for first in range(0, len(order), batch_size):
        batch = order[first : first + batch_size]
        encoded = tokenizer(
            [texts[index] for index in batch], padding=True, add_special_tokens=False, return_tensors="pt"
        ).to(device)
        with torch.inference_mode():
            tokens = model.generate(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                max_new_tokens=max_new_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=tokenizer.pad_token_id,
            )
        said = tokenizer.batch_decode(tokens[:, encoded["input_ids"].shape[1] :], skip_special_tokens=True)
        for index, text in zip(batch, said, strict=True):
            answers[index] = text.strip()
    return answers


def _as_chat(tokenizer: Any, prompt: str) -> str:
    turns = [{"role": "user", "content": prompt}]
    text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    return text
