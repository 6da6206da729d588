"""YAML of a large schema in few bytes: block style while a mapping is long, one line when it is short.

The CRDs hold the schema of a pod several times. In plain block style they are larger than what `kubectl
apply` can put into its annotation, and nearly all of that is indentation. The output is ordinary YAML, the
same bytes for the same value, so that a changed field is a changed line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 400
"""The longest value that stands on one line."""
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*(\.[A-Za-z0-9_/-]+)*")
"""A string that needs no quotes."""
WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""Plain words that YAML 1.1 does not take for a string."""


def dump(value: Mapping[str, Any]) -> str:
    """Return a mapping as YAML."""
    return "".join(f"{line}\n" for line in _block(value, "", {}))


def _block(value: Any, indent: str, known: dict[int, str]) -> Iterator[str]:
    for start, child in _entries(value):
        line = f"{start}{_flow(child, known)}"
        if not isinstance(child, Mapping | list) or not child or len(line) <= WIDTH:
            yield f"{indent}{line}"
        elif start == "- ":
            first, *rest = _block(child, f"{indent}  ", known)
            yield from (f"{indent}- {first.lstrip()}", *rest)
        else:
            yield f"{indent}{start.rstrip()}"
            yield from _block(child, indent if isinstance(child, list) else f"{indent} ", known)


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{_scalar(key)}: ", value[key]) for key in sorted(value))
    else:
        yield from (("- ", child) for child in value)


def _flow(value: Any, known: dict[int, str]) -> str:
    """The value on one line; `known` holds what was written before, by identity."""
    if not isinstance(value, Mapping | list):
        return _scalar(value)
    if id(value) not in known:
        if isinstance(value, Mapping):
            text = ", ".join(f"{_scalar(key)}: {_flow(value[key], known)}" for key in sorted(value))
            known[id(value)] = f"{{{text}}}"
        else:
            known[id(value)] = f"[{', '.join(_flow(child, known) for child in value)}]"
    return known[id(value)]


def _scalar(value: Any) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
