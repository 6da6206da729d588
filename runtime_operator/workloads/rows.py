"""The rows that a model is tuned and measured on: JSON lines with a prompt and a completion.

A dataset is a folder with `train.jsonl` and `eval.jsonl`, or one such file. Every row is checked before
anything heavy starts, and a wrong one is named by its line, because a training run that dies at row 90,000
is worse.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import SpecError


@dataclass(frozen=True, slots=True)
class Row:
    """One question and the answer a model should give."""

    prompt: str
    completion: str


def find_rows(dataset: Path, split: str) -> Path:
    """The file with the rows of `split`: the dataset itself, or `<split>.jsonl` in it."""
    if dataset.is_file():
        return dataset
    if not dataset.is_dir():
        raise SpecError(f"dataset: {dataset} does not exist, give a folder with {split}.jsonl or such a file")
    file = dataset / f"{split}.jsonl"
    if not file.is_file():
        held = ", ".join(sorted(entry.name for entry in dataset.iterdir())[:5]) or "nothing"
        raise SpecError(f"dataset: {dataset} has no {split}.jsonl, it holds {held}")
    return file


def read_rows(file: Path) -> list[Row]:
    """All rows of `file`, in their order; blank lines do not count."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise SpecError(f"{file}: is not UTF-8 text at byte {error.start}, give JSON lines") from None
    rows = [
        _row(line, where=f"{file}: line {number}") for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not rows:
        raise SpecError(f"{file}: has no rows, give one JSON object with prompt and completion a line")
    return rows


def _row(line: str, *, where: str) -> Row:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise SpecError(f"{where} is not JSON, {error.msg} at column {error.colno}") from None
    if not isinstance(value, dict):
        raise SpecError(f"{where} is a {type(value).__name__}, give an object with prompt and completion")
    for name in ("prompt", "completion"):
        text = value.get(name)
        if not isinstance(text, str) or not text.strip():
            given = f"{text!r}" if name in value else f"only {', '.join(sorted(value)) or 'nothing'}"
            raise SpecError(f"{where} has no text for {name} (given {given}), give a prompt and a completion")
    return Row(prompt=value["prompt"], completion=value["completion"])
