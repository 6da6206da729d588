"""Which shape a dataset has, and which of its columns play which part.

The shape that most of the first rows have is the dataset's; a row of another shape is a fault of that row.
A mapping given by the person goes before everything found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import SpecError
from .example import Shape

TURNS = "messages conversations conversation dialogue dialog chat turns".split()
PROMPTS = "prompt question query instruction input source problem user".split()
ANSWERS = "completion response output answer answers target solution assistant".split()
TEXTS = "text content document".split()
PARTS = {"prompt", "context", "completion", "system", "messages", "text", "chosen", "rejected", "tools"}
SPEAKERS = {"from", "value"}


@dataclass(frozen=True, slots=True)
class Mapped:
    """A shape, and the column for each of its parts."""

    shape: Shape
    columns: Mapping[str, str]

    def __str__(self) -> str:
        return ", ".join(f"{part}={column}" for part, column in self.columns.items())

    def needs(self) -> list[str]:
        """The columns that no row may lack; a system message, a context and tools may be absent."""
        spare = {"system", "context", "tools"} | ({"prompt"} if self.shape == "preference pairs" else set())
        return [column for part, column in self.columns.items() if part not in spare]


def find_shape(rows: Sequence[Mapping[str, Any]], given: Mapping[str, str] | None = None) -> Mapped:
    """The shape of most of these rows; SpecError when they have none that is known."""
    if given:
        return _given_shape(rows, given)
    votes = Counter(_key(mapped) for row in rows if (mapped := shape_of_row(row)))
    if not votes:
        columns = ", ".join(sorted({name for row in rows for name in row})[:12]) or "none"
        raise SpecError(
            f"columns: of {columns} none could be taken for a prompt, an answer, messages or text, "
            "map them: --columns prompt=NAME,completion=NAME"
        )
    best = votes.most_common(1)[0][0]
    found = [mapped for row in rows if (mapped := shape_of_row(row)) and _key(mapped) == best]
    return max(found, key=lambda mapped: len(mapped.columns))  # the row with the most of the spare columns


def shape_of_row(row: Mapping[str, Any]) -> Mapped | None:
    """The shape of this one row, by the names of its columns and by what a list in it holds."""
    names = {name.lower().strip(): name for name in row if isinstance(name, str)}
    spare = {part: names[word] for part, word in _SPARE if word in names}
    if "chosen" in names and "rejected" in names:
        asked = _first(names, PROMPTS)
        columns = {"prompt": asked} if asked else {}
        return Mapped("preference pairs", {**columns, **spare, **_same(names, "chosen", "rejected")})
    if turns := next((names[word] for word in TURNS if word in names and _is_turns(row[names[word]])), None):
        return Mapped("conversations" if _is_spoken(row[turns]) else "messages", {"messages": turns, **spare})
    answer = _first(names, ANSWERS)
    if "instruction" in names and answer:
        context = _same(names, "input", part="context") or _same(names, "context")
        columns = {"prompt": names["instruction"], **context, "completion": answer}
        return Mapped("instruction and output", {**columns, **spare})
    prompt = _first(names, PROMPTS)
    if prompt and answer and prompt != answer:
        return Mapped("prompt and completion", {"prompt": prompt, "completion": answer, **spare})
    if text := _first(names, TEXTS):
        return Mapped("text", {"text": text})
    return None


_SPARE = (("system", "system"), ("system", "system_prompt"), ("tools", "tools"))


def _given_shape(rows: Sequence[Mapping[str, Any]], given: Mapping[str, str]) -> Mapped:
    if unknown := sorted(set(given) - PARTS):
        raise SpecError(f"columns: {unknown[0]} is not a part of a row, map {', '.join(sorted(PARTS))}")
    held = {name for row in rows for name in row}
    if lacking := sorted(column for column in given.values() if column not in held):
        raise SpecError(f"columns: no row has {lacking[0]!r}, the rows have {', '.join(sorted(held)[:12])}")
    parts = set(given)
    shapes: list[tuple[set[str], Shape]] = [
        ({"chosen", "rejected"}, "preference pairs"),
        ({"messages"}, "messages"),
        ({"prompt", "completion", "context"}, "instruction and output"),
        ({"prompt", "completion"}, "prompt and completion"),
        ({"text"}, "text"),
    ]
    for needed, shape in shapes:
        if needed <= parts:
            return Mapped(shape, dict(given))
    raise SpecError(
        f"columns: {', '.join(sorted(parts))} make no row, map prompt and completion, messages, text, "
        "or chosen and rejected"
    )


def _key(mapped: Mapped) -> tuple[str, tuple[str, ...]]:
    return mapped.shape, tuple(mapped.needs())


def _first(names: Mapping[str, str], words: Sequence[str]) -> str | None:
    return next((names[word] for word in words if word in names), None)


def _same(names: Mapping[str, str], *words: str, part: str | None = None) -> dict[str, str]:
    return {part or word: names[word] for word in words if word in names}


def _is_turns(value: Any) -> bool:
    """A list of turns; or what columnar files make of one, an object of lists; or JSON within a text."""
    if isinstance(value, str):
        return value.lstrip().startswith("[")
    if isinstance(value, dict):
        return bool(value) and all(isinstance(inner, list) for inner in value.values())
    return isinstance(value, list)


def _is_spoken(value: Any) -> bool:
    if isinstance(value, str):
        return '"from"' in value and '"value"' in value
    first = (value[0] if value else {}) if isinstance(value, list) else value
    return isinstance(first, dict) and first.keys() >= SPEAKERS
