"""What the models are asked: held-out rows as conversations, with the answer that is expected.

A row with `choices` and the number of the right one in `answer` is a multiple choice; every other row is
read as training reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import SpecError
from ..dataset.example import Turn
from ..dataset.files import find_files
from ..dataset.formats import Source, read_records
from ..dataset.records import place
from ..dataset.writing import load_rows

SPLITS = ("eval", "test")
ASKED = ("prompt", "question", "input")


@dataclass(frozen=True, slots=True)
class Question:
    """A conversation that waits for an answer."""

    turns: tuple[Turn, ...]
    expected: str
    choices: tuple[str, ...] = ()
    """the answers to choose from; `expected` is one of them"""
    tools: tuple[Any, ...] = ()
    """what the model is told that it may call"""

    @property
    def shown(self) -> str:
        """The conversation as a person reads it."""
        if len(self.turns) == 1:
            return str(self.turns[0]["content"])
        return "\n".join(f"{turn['role']}: {turn['content']}" for turn in self.turns)


def read_questions(dataset: Path, *, limit: int | None) -> list[Question]:
    """The held-out rows; SpecError names the first that cannot be asked."""
    split, sources = _held_out(dataset)
    questions = _choices(sources) if _has_choices(sources) else _answers(dataset, split)
    found = list(islice(questions, limit))
    if not found:
        raise SpecError(f"dataset: {dataset} has no rows to evaluate on, give a split eval with some")
    return found


def _held_out(dataset: Path) -> tuple[str, list[Source]]:
    """The split that is held out; a file by itself is all of it."""
    found = find_files(dataset)
    for split in SPLITS:
        if split in found.splits:
            return split, found.splits[split]
    if dataset.is_file() and found.splits:
        return next(iter(found.splits.items()))
    if not found.splits:
        raise SpecError(f"dataset: {dataset} has no rows that can be read, give held-out ones")
    raise SpecError(
        f"dataset: {dataset} has no split eval, it has {', '.join(found.splits)}; "
        "split it with `kfp-trainer dataset check`, or give the file of held-out rows"
    )


def _answers(dataset: Path, split: str) -> Iterator[Question]:
    for number, example in enumerate(load_rows(dataset, split), 1):
        if not example.answer:
            raise SpecError(f"dataset: row {number} of {split} has no answer, and none can be judged by it")
        answer = "\n".join(str(turn["content"]) for turn in example.answer)
        yield Question(tuple(example.prompt), answer, tools=tuple(example.tools))


def _has_choices(sources: list[Source]) -> bool:
    first = next((each.value for source in sources for each in read_records(source) if each.value), {})
    return "choices" in first


def _choices(sources: list[Source]) -> Iterator[Question]:
    for source in sources:
        for record in read_records(source):
            where = place(source.name, record.row, record.line)
            yield _choice(record.value or {}, where)


def _choice(row: Mapping[str, Any], where: str) -> Question:
    asked = next(
        (row[name] for name in ("prompt", "question", "input") if isinstance(row.get(name), str)), ""
    )
    choices, right = row.get("choices"), row.get("answer", row.get("gold"))
    if not asked or not isinstance(choices, list) or len(choices) < 2:
        raise SpecError(f"{where}: is no multiple choice, give question, two or more choices and answer")
    if isinstance(right, str) and right in choices:
        right = choices.index(right)
    if not isinstance(right, int) or not 0 <= right < len(choices):
        raise SpecError(f"{where}: answer {json.dumps(right)} is none of its {len(choices)} choices")
    return Question(({"role": "user", "content": asked},), str(choices[right]), tuple(map(str, choices)))
