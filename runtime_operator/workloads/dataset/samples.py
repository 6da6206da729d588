"""A few rows to look at, chosen by their content: the same rows whatever the order of the files."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

from .example import Example, in_plain
from .model import ModelReader
from .records import Record, place
from .result import Sample

LONGEST = 3000


class Samples:
    """Keeps the rows with the smallest prints, and the longest row."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[int, _Kept]] = []
        self._longest: _Kept | None = None

    def offer(self, number: int, file: str, record: Record, length: int, example: Example) -> None:
        """Keep this row if it is among the chosen."""
        if not self._most:
            return
        kept = _Kept(place(file, record.row, record.line), length, example)
        if self._longest is None or length > self._longest.length:
            self._longest = kept
        room = len(self._kept) < self._most - 1
        if (room or (self._kept and number < self._kept[-1][0])) and all(
            number != one for one, _ in self._kept
        ):
            insort(self._kept, (number, kept), key=lambda pair: pair[0])
            del self._kept[self._most - 1 :]

    def chosen(self, model: ModelReader | None) -> list[Sample]:
        """The samples as the model reads them, the longest row last."""
        kept = [one for _, one in self._kept]
        if self._longest and self._longest not in kept:
            kept.append(self._longest)
        examples = [one.example for one in kept]
        texts = model.render(examples) if model else [in_plain(example) for example in examples]
        return [
            Sample(place=one.place, length=one.length, text=_short(text))
            for one, text in zip(kept, texts, strict=True)
        ]


class _Kept(NamedTuple):
    place: str
    length: int
    example: Example


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n … {len(text) - LONGEST:,} characters left out … \n{text[-half:]}"
