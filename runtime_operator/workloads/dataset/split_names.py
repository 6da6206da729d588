"""The names that people give to splits, and which of them a file's name speaks of."""

from __future__ import annotations

import re

SPLITS = {
    "train": "train training",
    "eval": "eval evaluation validation valid val dev heldout",
    "test": "test testing",
}
_SPLIT_OF = {word: split for split, words in SPLITS.items() for word in words.split()}


def split_of(name: str) -> str | None:
    """The split that a file's or a folder's name speaks of; the last word counts."""
    words = re.split(r"[^a-z]+", name.lower())
    return next((_SPLIT_OF[word] for word in reversed(words) if word in _SPLIT_OF), None)
