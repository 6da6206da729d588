"""Replicated Jobs as Go writes them in a message: fields in the order of their types, zeros left out.

`go_fields.json` holds by type each field: its name, its form (value, pointer, list, map), the type below,
and whether it is left out when empty.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

Field = tuple[str, str, str | None, bool]


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
        if form == "value" and below:
            written[name] = _ordered(below, given or {})
        elif form == "pointer" and given is not None:
            written[name] = _ordered(below, given) if below and isinstance(given, dict) else given
        elif form == "list" and below and given:
            written[name] = [_ordered(below, each) for each in given]
        elif form == "map" and given:
            written[name] = dict(sorted(given.items()))
        elif given or (form == "list" and not omitted):
            written[name] = given
        elif not omitted:
            written[name] = ""
    return written
