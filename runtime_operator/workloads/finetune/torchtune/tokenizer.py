"""A Hugging Face folder's own tokenizer and chat template, as TorchTune's recipes take a tokenizer.

Our rows come tokenised the way of the other back end (`rows.py`); TorchTune's data sets bring messages, of
which those that are not masked are learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...models import load_tokenizer
from ..tokens import IGNORED, token_rows


class FolderTokenizer:
    """A tokenizer of TorchTune, over the files of a model's folder."""

    def __init__(self, path: str, max_seq_len: int | None = None, **ignored: Any) -> None:
        folder = Path(path)
        self.inner = load_tokenizer(folder if folder.is_dir() else folder.parent)
        self.max_seq_len = max_seq_len
        self.pad_id = self.inner.pad_token_id
        self.eos_id = self.inner.eos_token_id
        self.stop_tokens = [self.eos_id]

    def encode(self, text: str, **named: Any) -> list[int]:
        """The tokens of a text, without special ones."""
        ids: list[int] = self.inner(text, add_special_tokens=False)["input_ids"]
        return ids

    def decode(self, token_ids: Sequence[int], **named: Any) -> str:
        """The text of tokens."""
        return str(self.inner.decode(token_ids))

    def tokenize_messages(self, messages: Sequence[Any], **named: Any) -> tuple[list[int], list[bool]]:
        """The tokens of a conversation, and which of them are not learnt."""
        from ...dataset.example import Example

        turns = tuple({"role": each.role, "content": each.text_content} for each in messages)
        last = max((at for at, turn in enumerate(turns) if turn["role"] == "assistant"), default=len(turns))
        example = Example(prompt=turns[:last], answer=turns[last:])
        row = token_rows(self.inner, [example], answers_only=any(each.masked for each in messages))[0]
        masked = [label == IGNORED for label in row["labels"]]
        return row["input_ids"][: self.max_seq_len], masked[: self.max_seq_len]

    def __call__(self, sample: Mapping[str, Any], inference: bool = False) -> dict[str, Any]:
        """A row of TorchTune's data sets with tokens in place of messages."""
        tokens, mask = self.tokenize_messages(sample["messages"])
        return {
            **{name: value for name, value in sample.items() if name != "messages"},
            "tokens": tokens,
            "mask": mask,
        }
