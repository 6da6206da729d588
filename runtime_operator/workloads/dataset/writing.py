"""The rows as training reads them: one file a split, one form for all, complete or absent.

`prompt_completion` where every row is one question and one answer, `messages` where it is not, `text` and
`preference` as the data is. `load_rows` gives the same rows without writing them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import orjson

from ...errors import SpecError
from ..card.origin import CHECKED_FILE, Origin
from ..files import new_folder
from .example import Example, Turn
from .files import find_files
from .formats import Source, read_records
from .normalise import Normaliser
from .records import place
from .rules import RULES
from .shapes import Mapped, find_shape

Form = Literal["prompt_completion", "messages", "text", "preference"]
LOOKED_AT = 256  # rows by which the shape is told


def load_rows(
    dataset: Path,
    split: str = "train",
    *,
    columns: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
) -> Iterator[Example]:
    """Every row of a split as an example; SpecError names the first that is none.

    What a check bears, or was told to allow, is no error here either.
    """
    found = find_files(dataset)
    for name, fault in found.refused:
        if RULES[fault.rule].level == "error":
            raise SpecError(f"{name}: {fault.detail}, {RULES[fault.rule].advice}")
    sources = found.splits.get(split)
    if not sources:
        held = ", ".join(found.splits) or "none"
        raise SpecError(f"dataset: {dataset} has no rows of the split {split}, it has {held}")
    allowed = _allowed(dataset)
    normaliser = Normaliser(find_mapping(sources, columns), roles)
    for source in sources:
        for record in read_records(source):
            example, faults = normaliser.example(record.value) if record.value is not None else (None, [])
            grave = [fault for fault in faults if not RULES[fault.rule].borne and fault.rule not in allowed]
            if example is None or grave:
                fault = [*grave, *record.faults, *faults][0]
                where = place(source.name, record.row, record.line)
                raise SpecError(f"{where}: {fault.detail}, {RULES[fault.rule].advice}")
            yield example


def _allowed(dataset: Path) -> list[str]:
    """The rules that the check which wrote these rows was told to allow."""
    file = dataset / CHECKED_FILE
    return list(orjson.loads(file.read_bytes())["allowed"]) if file.is_file() else []


def find_mapping(sources: Iterable[Source], columns: Mapping[str, str] | None) -> Mapped:
    """The shape and the columns of the first rows that can be read."""
    for source in sources:
        rows = [record.value for record in islice(read_records(source), LOOKED_AT) if record.value]
        if rows:
            return find_shape(rows, columns)
    raise SpecError("dataset: not one row of it can be read as an object with columns")


def form_of(mapped: Mapped, simple: bool) -> Form:
    """The form that rows of this shape are written in."""
    if mapped.shape == "text":
        return "text"
    if mapped.shape == "preference pairs":
        return "preference"
    return "prompt_completion" if simple else "messages"


def write_rows(
    folder: Path,
    rows: Iterable[tuple[str, Example]],
    *,
    form: Form,
    simple: bool,
    allowed: Sequence[str] = (),
    origin: Origin | None = None,
) -> dict[str, int]:
    """Write each example to the file of its split; returns the rows of each file.

    `allowed` are the rules that a person let pass, `origin` is where the rows are from; both are written
    beside them.
    """
    written: dict[str, int] = {}
    with new_folder(folder) as part, ExitStack() as stack:
        files: dict[str, Any] = {}
        for split, example in rows:
            if split not in files:
                files[split] = stack.enter_context((part / f"{split}.jsonl").open("wb", buffering=1 << 20))
            files[split].write(orjson.dumps(as_row(example, form=form, simple=simple)) + b"\n")
            written[split] = written.get(split, 0) + 1
        told = {"form": form, "allowed": list(allowed), **({"origin": asdict(origin)} if origin else {})}
        (part / CHECKED_FILE).write_bytes(orjson.dumps(told) + b"\n")
    return written


def as_row(example: Example, *, form: Form, simple: bool) -> dict[str, Any]:
    """The example in that form; `simple` writes a question and an answer as plain text."""
    tools = {"tools": list(example.tools)} if example.tools else {}
    match form:
        case "text":
            return {"text": example.text}
        case "preference":
            sides = {"prompt": example.prompt, "chosen": example.answer, "rejected": example.rejected}
            return {name: _side(turns, simple) for name, turns in sides.items()} | tools
        case "prompt_completion":
            return {"prompt": _side(example.prompt, True), "completion": _side(example.answer, True)}
        case _:
            return {"messages": example.turns} | tools


def _side(turns: tuple[Turn, ...], simple: bool) -> str | list[Turn]:
    return str(turns[0]["content"]) if simple else list(turns)
