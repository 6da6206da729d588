"""Rows that say the same, within a split and across splits.

A row is remembered by three numbers of eight bytes: of its text, of its text without regard to case and
white space, and of its prompt alone. So a million rows need 24 MB, and comparing them all is sorting.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from .example import Example, said

BITS = 64


class Print(NamedTuple):
    """What a row is remembered by."""

    exact: int
    loose: int
    prompt: int


@dataclass(slots=True)
class Prints:
    """The prints of a split, in the order of its rows; `rows` are their numbers there."""

    exact: array[int] = field(default_factory=lambda: array("Q"))
    loose: array[int] = field(default_factory=lambda: array("Q"))
    prompt: array[int] = field(default_factory=lambda: array("Q"))
    rows: array[int] = field(default_factory=lambda: array("I"))

    def add(self, row: int, prints: Print) -> None:
        """Remember a row."""
        self.exact.append(prints.exact)
        self.loose.append(prints.loose)
        self.prompt.append(prints.prompt)
        self.rows.append(row)


def print_of(example: Example) -> Print:
    """The numbers an example is remembered by; the same on every machine."""
    prompt = said(example.prompt) if example.text is None else example.text
    answers = said(example.answer) + "\x1d" + said(example.rejected)
    exact = f"{prompt}\x1d{answers}"
    loose_prompt = _loose(prompt)
    return Print(_number(exact), _number(f"{loose_prompt}\x1d{_loose(answers)}"), _number(loose_prompt))


def twins(numbers: array[int]) -> Iterator[tuple[int, int]]:
    """Each position whose number stood before, and where first; in order of position."""
    import numpy

    values = numpy.frombuffer(numbers, dtype=numpy.uint64)
    order = numpy.argsort(values, kind="stable")
    same = numpy.flatnonzero(values[order][1:] == values[order][:-1]) + 1
    starts: dict[int, int] = {}
    pairs: list[tuple[int, int]] = []
    for at in same.tolist():
        first = starts.get(at - 1, at - 1)
        starts[at] = first
        pairs.append((int(order[at]), int(order[first])))
    yield from sorted(pairs)


def shared(some: array[int], others: array[int]) -> Iterator[tuple[int, int]]:
    """Each position in `some` whose number stands in `others` too, and where first."""
    import numpy

    one, other = (numpy.frombuffer(numbers, dtype=numpy.uint64) for numbers in (some, others))
    if not len(one) or not len(other):
        return
    order = numpy.argsort(other, kind="stable")
    where = numpy.searchsorted(other[order], one)
    found = numpy.minimum(where, len(other) - 1)
    hits = numpy.flatnonzero(other[order][found] == one)
    for at in hits.tolist():
        yield at, int(order[found[at]])


def _number(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest(), "big"
    )


def _loose(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())
