"""One pass over the rows of a split: every rule that needs only a row, and what later rules need of it.

Rows come as a stream and go through the model's tokenizer in batches; what stays of a row is some forty
bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from .example import Example, in_plain, said
from .findings import Findings
from .formats import Source, read_records
from .formats.json_lines import kind
from .model import ModelReader
from .normalise import Normaliser
from .records import Fault, Record
from .sameness import Prints, print_of
from .samples import Samples
from .text import TextRules

BATCH = 512
MOST_CHARACTERS = 4_000_000  # of a batch
# What is told of a row whose text through the template is odd.
REMARKS = {
    "answer-lost": "is rendered without its answer",
    "open-end": "is rendered without a token that ends its answer",
    "prompt-differs": "has a prompt that is rendered otherwise when an answer follows",
}


class _Row(NamedTuple):
    at: int
    source: Source
    record: Record
    example: Example


@dataclass(slots=True)
class Seen:
    """What is known of a split after its rows have passed."""

    name: str
    sources: list[Source]
    rows: int = 0
    skipped: bytearray = field(default_factory=bytearray)
    """1 for each row that is not written"""
    prints: Prints = field(default_factory=Prints)
    lengths: array[int] = field(default_factory=lambda: array("I"))
    files: array[int] = field(default_factory=lambda: array("I"))
    numbers: array[int] = field(default_factory=lambda: array("I"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    over: int = 0
    simple: bool = True
    answers: set[str] = field(default_factory=set)
    """the answers, until there are two"""

    def where(self, index: int) -> tuple[str, int, int | None]:
        """The file, the row and the line of the row with this index."""
        line = self.lines[index]
        return self.sources[self.files[index]].name, self.numbers[index], line or None


@dataclass(slots=True)
class Inspector:
    """Reads splits by one mapping and notes what it finds."""

    normaliser: Normaliser
    findings: Findings
    text: TextRules
    samples: Samples
    model: ModelReader | None = None
    limit: int | None = None
    on_rows: Callable[[str, int], None] | None = None
    """told the split and its rows so far, after every batch"""

    def inspect(self, name: str, sources: list[Source]) -> Seen:
        """Read every row of these files; one batch is counted while the next is read."""
        seen = Seen(name, sources)
        rows = self._usable(seen)
        with ThreadPoolExecutor(1) as counting:
            waiting: tuple[list[_Row], Future[list[dict[str, Any]]]] | None = None
            while batch := _batch(rows):
                counted = counting.submit(self._count, [row.example for row in batch])
                if waiting:
                    self._take(seen, waiting[0], waiting[1].result())
                waiting = batch, counted
                if self.on_rows:
                    self.on_rows(name, seen.rows)
            if waiting:
                self._take(seen, waiting[0], waiting[1].result())
        return seen

    def _usable(self, seen: Seen) -> Iterator[_Row]:
        for number, source in enumerate(seen.sources):
            types: dict[str, type] = {}
            before = seen.rows
            for record in islice(read_records(source), self.limit):
                if record.row == 0:
                    self._note(record.faults[0], source, record)
                    continue
                index = self._enter(seen, number, record)
                example = self._example(seen, index, source, record, types)
                if example is not None:
                    yield _Row(index, source, record, example)
            if seen.rows == before:
                self.findings.add(Fault("empty-file", "has no rows"), source.name)

    def _enter(self, seen: Seen, file: int, record: Record) -> int:
        seen.rows += 1
        seen.skipped.append(0)
        seen.files.append(file)
        seen.numbers.append(record.row)
        seen.lines.append(record.line or 0)
        return seen.rows - 1

    def _example(
        self, seen: Seen, index: int, source: Source, record: Record, types: dict[str, type]
    ) -> Example | None:
        """The row's example if it may go on; every fault of the row is noted."""
        faults, example = list(record.faults), None
        if record.value is not None:
            example, more = self.normaliser.example(record.value)
            faults += more
            faults += _type_faults(record.value, types)
        if example is not None:
            faults += self.text.faults(example)
        for fault in faults:
            self._note(fault, source, record)
        broken = any(fault.rule == "lone-surrogate" or self.findings.unusable(fault) for fault in faults)
        if example is None or broken or any(self.findings.drops(fault) for fault in faults):
            seen.skipped[index] = 1
            return None
        return example

    def _count(self, examples: list[Example]) -> list[dict[str, Any]]:
        """What the model makes of each row; without a model its characters are counted."""
        if self.model:
            return self.model.measure(examples)
        return [{"tokens": len(in_plain(example))} for example in examples]

    def _take(self, seen: Seen, batch: list[_Row], counted: list[dict[str, Any]]) -> None:
        """Judge the rows of a batch by what the model makes of them, and remember those that stay."""
        for row, facts in zip(batch, counted, strict=True):
            for fault in self._faults_of_length(seen, facts):
                self._note(fault, row.source, row.record)
                if self.findings.unusable(fault) or self.findings.drops(fault) or "refused" in facts:
                    seen.skipped[row.at] = 1
            if not seen.skipped[row.at]:
                self._remember(seen, row, facts["tokens"])

    def _faults_of_length(self, seen: Seen, facts: dict[str, Any]) -> Iterator[Fault]:
        if "refused" in facts:
            yield Fault("template-refuses", f"is refused by the chat template: {facts['refused']}")
            return
        for rule in facts.get("remarks", ()):
            yield Fault(rule, REMARKS[rule])
        tokens, room = facts["tokens"], self.model.room if self.model else None
        if room is None or tokens <= room:
            return
        seen.over += 1
        prompt = facts.get("prompt", 0)
        if prompt >= room:
            yield Fault("no-label", f"has a prompt of {prompt:,} tokens, there is room for {room:,}")
        else:
            yield Fault("too-long", f"has {tokens:,} tokens, there is room for {room:,}")

    def _remember(self, seen: Seen, row: _Row, length: int) -> None:
        prints = print_of(row.example)
        seen.prints.add(row.at, prints)
        seen.lengths.append(length)
        seen.simple = seen.simple and row.example.is_simple
        if len(seen.answers) < 2:
            seen.answers.add(said(row.example.answer) or row.example.text or "")
        self.samples.offer(prints.exact, row.source.name, row.record, length, row.example)

    def _note(self, fault: Fault, source: Source, record: Record) -> None:
        self.findings.add(fault, source.name, record.row, record.line)


def _batch(rows: Iterator[_Row]) -> list[_Row]:
    """The next rows: so many, or fewer where they are long."""
    batch: list[_Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += row.example.size
        if len(batch) == BATCH or characters > MOST_CHARACTERS:
            break
    return batch


def _type_faults(value: dict[str, Any], types: dict[str, type]) -> list[Fault]:
    """A column that held one type so far and holds another now; told once a column."""
    faults = []
    for name, cell in value.items():
        if cell is None:
            continue
        found = float if type(cell) is int else type(cell)
        known = types.setdefault(name, found)
        if known is not found and known is not object:
            types[name] = object
            faults.append(
                Fault(
                    "type-changes", f"has {kind(cell)} in {name}, the rows before {_NAMES.get(known, known)}"
                )
            )
    return faults


_NAMES = {float: "a number", str: "text", list: "a list", dict: "an object", bool: "a boolean"}
