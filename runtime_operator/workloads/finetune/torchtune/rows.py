"""Our rows as a data set of TorchTune: the same tokens are learnt as in the other back end.

TorchTune shuffles every epoch anew but always with the same chance; here the rows are mixed by the run's
seed beforehand, so that another seed is another run.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from ...dataset.writing import load_rows
from ..tokens import token_rows
from .shims import import_torchtune
from .tokenizer import FolderTokenizer

Row = dict[str, list[int]]


def rows_of(tokenizer: FolderTokenizer, *, source: str, answers_only: bool, packed: bool, seed: int) -> Any:
    """The rows to train on, none longer than the tokenizer's limit."""
    examples = list(load_rows(Path(source), "train"))
    Random(seed).shuffle(examples)
    limit = tokenizer.max_seq_len
    rows = [
        {"tokens": row["input_ids"][:limit], "labels": row["labels"][:limit]}
        for row in token_rows(tokenizer.inner, examples, answers_only=answers_only)
    ]
    if not packed:
        return Rows(rows)
    import_torchtune()
    from torchtune.datasets import PackedDataset

    return PackedDataset(Rows(rows), max_seq_len=limit, padding_idx=tokenizer.pad_id)


class Rows:
    """Rows by their number."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> Row:
        return dict(self.rows[at])
