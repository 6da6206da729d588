"""How many tokens a text has, word by word: a word that was counted once is not counted again.

A byte-level tokenizer cuts a text into words before anything else, and what becomes of a word does not depend
on its neighbours. So the sum over the words is the number of tokens; and a dataset has few words, often. This
holds where the cutting is known exactly: plain ASCII, one of the patterns below, added tokens that are taken
as they stand. Everything else is left to the tokenizer, and so is all of it as soon as one of the first
texts is counted otherwise by it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Self

MOST_WORDS = 200_000
LONGEST_WORD = 64
LONGEST_TEXT = 1_000_000  # it may be one word, and a token takes much memory while it is counted
COMPARED = 256  # texts that are counted both ways
GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_NEWER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
PATTERNS = (_NEWER % r"\p{N}{1,3}", _NEWER % r"\p{N}")  # of Llama 3 and of Qwen 2
_DIGIT = re.compile("([0-9])")
_AS_IT_IS = ("lstrip", "rstrip", "single_word")  # else an added token takes the blanks around it along
Cut = Callable[[str], Sequence[str]]


class _Counts(dict[str, int]):
    """The tokens of each word, counted when it is first asked for."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, word: str) -> int:
        found = self._count(word)
        if len(word) <= LONGEST_WORD and len(self) < MOST_WORDS:
            self[word] = found
        return found


class WordCounts:
    """Counts texts of one tokenizer by their words."""

    def __init__(self, count: Callable[[str], int], cut: Cut, added: Sequence[str]) -> None:
        self._count, self._cut = count, cut
        self._added = re.compile("|".join(map(re.escape, sorted(added, key=len, reverse=True))) or r"(?!)")
        self._counts = _Counts(count)
        self._compared = 0

    @classmethod
    def of(cls, core: Any) -> Self | None:
        """The counter of a tokenizer; None where its cutting is not known exactly."""
        told = json.loads(core.to_str())
        cut = _cut_of(told)
        if cut is None or told.get("truncation") or told.get("padding"):
            return None
        added = told.get("added_tokens") or []
        if any(token.get(name) for token in added for name in _AS_IT_IS):
            return None
        if len({bool(token.get("normalized")) for token in added}) > 1:
            return None

        def count(text: str) -> int:
            return len(core.encode(text, add_special_tokens=False))

        return cls(count, cut, [token["content"] for token in added])

    def length(self, text: str) -> int | None:
        """The tokens of a text; None where only the tokenizer itself can tell."""
        if not text.isascii() or len(text) > LONGEST_TEXT or self._compared < 0:
            return None
        get, total = self._counts.__getitem__, 0
        between = self._added.split(text)
        for segment in between:
            total += sum(map(get, self._cut(segment)))
        total += len(between) - 1
        return total if self._compared >= COMPARED else self._as_the_tokenizer_says(text, total)

    def _as_the_tokenizer_says(self, text: str, found: int) -> int:
        right = self._count(text)
        self._compared = self._compared + 1 if right == found else -1
        return right


def _cut_of(told: Mapping[str, Any]) -> Cut | None:
    """What cuts a text as this tokenizer does."""
    model, normalizer = told.get("model") or {}, told.get("normalizer")
    if model.get("type") != "BPE" or model.get("dropout"):
        return None
    if normalizer is not None and normalizer.get("type") not in ("NFC", "NFKC"):  # they leave ASCII alone
        return None
    match _steps(told.get("pre_tokenizer") or {}):
        case [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]:
            return _pieces(GPT_2)
        case [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        ]:
            return _digits_apart(_pieces(GPT_2))
        case [
            {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        ] if pattern in PATTERNS:
            return _pieces(pattern)
    return None


def _steps(told: Mapping[str, Any]) -> list[Any]:
    return list(told["pretokenizers"]) if told.get("type") == "Sequence" else [told]


def _pieces(pattern: str) -> Cut:
    cut: Cut = import_module("regex").compile(pattern).findall  # knows \p{L}, and comes with transformers
    return cut


def _digits_apart(cut: Cut) -> Cut:
    def apart(text: str) -> list[str]:
        return [word for piece in _DIGIT.split(text) for word in cut(piece)]

    return apart
