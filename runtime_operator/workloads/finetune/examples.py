"""The rows of a run, read as the dataset check reads them, and whether they serve the objective.

Learning answers needs answers, comparing them needs pairs; text without turns is learnt whole. The held-out
rows are read only where the settings ask to look at them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import SpecError
from ..dataset.example import Example
from ..dataset.files import find_files
from ..dataset.writing import load_rows
from ..files import digest
from .settings import FinetuneSettings

HELD_OUT = ("eval", "test")


@dataclass(frozen=True, slots=True)
class Rows:
    """What a run learns from, and what it looks at meanwhile."""

    train: list[Example]
    held_out: list[Example]
    digest: str
    """SHA-256 of the files trained on"""

    @property
    def has_turns(self) -> bool:
        """Whether there is a conversation anywhere, so that a chat template is needed."""
        return any(example.text is None for example in (*self.train, *self.held_out))


def read_examples(settings: FinetuneSettings) -> Rows:
    """The rows that `settings` name; SpecError names the first that does not serve."""
    found = find_files(settings.dataset)
    train = _read(settings, "train")
    held_out = _held_out(settings, list(found.splits)) if settings.evaluates else []
    files = [source.path for source in found.splits["train"]]
    return Rows(train=train, held_out=held_out, digest=_digest(files))


def _read(settings: FinetuneSettings, split: str) -> list[Example]:
    examples = list(load_rows(settings.dataset, split))
    if not examples:
        raise SpecError(f"dataset: {settings.dataset} has no rows of the split {split}, give at least one")
    for number, example in enumerate(examples, 1):
        if example.is_pair != (settings.objective == "dpo"):
            kinds = {True: "a pair of answers", False: "no pair of answers"}
            advice = {True: "take objective dpo", False: "take objective sft, or rows of chosen and rejected"}
            raise SpecError(
                f"dataset: row {number} of {split} is {kinds[example.is_pair]} and the objective is "
                f"{settings.objective}, {advice[example.is_pair]}"
            )
    return examples


def _held_out(settings: FinetuneSettings, splits: Sequence[str]) -> list[Example]:
    for split in HELD_OUT:
        if split in splits:
            return _read(settings, split)
    raise SpecError(
        f"eval_every: {settings.dataset} has no held-out rows (splits: {', '.join(splits)}), "
        "split it with `kfp-trainer dataset check` or leave eval_every out"
    )


def _digest(files: Sequence[Path]) -> str:
    if len(files) == 1:
        return digest(files[0])
    return hashlib.sha256("".join(f"{file.name} {digest(file)}\n" for file in files).encode()).hexdigest()
