"""JobSets as Go reads and writes them: which field has which type, in which order, and what is left out.

`go_fields.json` holds by type each field: its name, its form (value, pointer, list, map), the type of what
it holds, and whether it is left out when empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

Field = tuple[str, str, str | None, bool]

SCALARS: dict[str, type] = {"string": str, "bool": bool, "int": int, "int32": int, "int64": int}
EMPTY: dict[str, Any] = {"string": "", "bool": False, "int": 0, "int32": 0, "int64": 0}
JSON_NAMES = {str: "string", bool: "bool", list: "array", dict: "object"}


@cache
def _types() -> dict[str, list[Field]]:
    types: dict[str, list[Field]] = json.loads((Path(__file__).parent / "go_fields.json").read_text())
    return types


def go_json(kind: str, value: Any) -> str:
    """A value of a Go type, or a list of such values, as JSON."""
    plain = [_ordered(kind, each) for each in value] if isinstance(value, list) else _ordered(kind, value)
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _ordered(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, form, below, omitted in _types()[kind]:
        given = value.get(name)
        nested = below if below in _types() else None
        if form == "value" and nested:
            written[name] = _ordered(nested, given or {})
        elif form == "pointer" and given is not None:
            written[name] = _ordered(nested, given) if nested else given
        elif form == "list" and nested and given:
            written[name] = [_ordered(nested, each) for each in given]
        elif form == "map" and given:
            written[name] = dict(sorted(given.items()))
        elif given or not omitted:
            written[name] = given if given or form == "list" else EMPTY.get(below or "", "")
    return written


def unreadable(kind: str, value: Any, path: str) -> str | None:
    """Why Go cannot read a value as this type: the first field that holds something else."""
    return next(_faults(kind, value, path), None)


def _faults(kind: str, value: dict[str, Any], path: str) -> Iterator[str]:
    fields = {name: (form, below) for name, form, below, _ in _types()[kind]}
    for name, given in sorted(value.items()):
        form, below = fields.get(name, ("", None))
        where = f"{path}.{name}"
        if form == "list" and isinstance(given, list):
            for each in given:
                yield from _one(kind, below, each, where)
        elif form in ("value", "pointer"):
            yield from _one(kind, below, given, where)


def _one(kind: str, below: str | None, given: Any, path: str) -> Iterator[str]:
    if given is None or below is None:
        return
    if below in _types():
        if isinstance(given, dict):
            yield from _faults(below, given, path)
        return
    if type(given) is not SCALARS[below]:
        said = JSON_NAMES.get(type(given)) or (f"number {given}" if below != "string" else "number")
        yield f"json: cannot unmarshal {said} into Go struct field {kind}.{path} of type {below}"
