"""Rows as the model reads them: tokens, and which of them are learnt.

What an assistant turn adds to the conversation so far is an answer. Its tokens are those behind the place
where the rendering of everything before it, ready for an answer, stops being the beginning of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import SpecError
from ..dataset.example import Example, Turn

IGNORED = -100


def token_rows(
    tokenizer: Any, examples: Sequence[Example], *, answers_only: bool
) -> list[dict[str, list[int]]]:
    """`input_ids` and `labels` of every row, in their order and uncut."""
    return [_row(tokenizer, example, answers_only) for example in examples]


def check_learnt(rows: Iterable[Mapping[str, Sequence[int]]], *, model: Path, limit: int) -> None:
    """Whether any row has a token to learn from among its first; the first that has one is enough."""
    if any(label != IGNORED for row in rows for label in row["labels"][:limit]):
        return
    if any(label != IGNORED for row in rows for label in row["labels"]):
        raise SpecError(f"sequence_length: every answer begins behind the first {limit} tokens, raise it")
    raise SpecError(
        f"model: the chat template of {model} leaves out what the assistant says, mend chat_template.jinja"
    )


def preference_row(example: Example) -> dict[str, Any]:
    """A pair as TRL takes it."""
    return {
        "prompt": list(example.prompt),
        "chosen": list(example.answer),
        "rejected": list(example.rejected),
    }


def pair_lengths(tokenizer: Any, examples: Sequence[Example]) -> list[int]:
    """The length of each pair's longer side with its question."""
    return [
        max(
            len(_rendered(tokenizer, example, [*example.prompt, *side]))
            for side in (example.answer, example.rejected)
        )
        for example in examples
    ]


def _row(tokenizer: Any, example: Example, answers_only: bool) -> dict[str, list[int]]:
    if example.text is not None:
        ids = tokenizer(example.text)["input_ids"]
        if not ids or ids[-1] != tokenizer.eos_token_id:
            ids = [*ids, tokenizer.eos_token_id]
        return {"input_ids": ids, "labels": list(ids)}
    ids = _rendered(tokenizer, example, example.turns)
    if not answers_only:
        return {"input_ids": ids, "labels": list(ids)}
    labels = [IGNORED] * len(ids)
    for at, turn in enumerate(example.turns):
        if turn["role"] == "assistant":
            start, end = _span(tokenizer, example, at, ids)
            labels[start:end] = ids[start:end]
    return {"input_ids": ids, "labels": labels}


def _span(tokenizer: Any, example: Example, at: int, whole: list[int]) -> tuple[int, int]:
    """Where the answer that is turn `at` lies in the whole row."""
    before = _rendered(tokenizer, example, example.turns[:at], ready=True)
    start = _common(before, whole)
    if at + 1 == len(example.turns):
        return start, len(whole)
    return start, _common(_rendered(tokenizer, example, example.turns[: at + 1]), whole)


def _rendered(tokenizer: Any, example: Example, turns: Sequence[Turn], *, ready: bool = False) -> list[int]:
    from jinja2 import TemplateError

    try:
        text = tokenizer.apply_chat_template(
            list(turns), tools=list(example.tools) or None, tokenize=False, add_generation_prompt=ready
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
        roles = ", ".join(str(turn["role"]) for turn in turns)
        why = " ".join(str(error).split())[:200]
        raise SpecError(
            f"model: the chat template of {tokenizer.name_or_path} cannot write a row of {roles} ({why}), "
            "mend the template or the rows"
        ) from None
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _common(one: list[int], other: list[int]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
