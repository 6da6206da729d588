"""Looking into documents that may have any shape, as a person or a fuzzer wrote them.

Rules look at fields deep in a document before, or although, the schema finds them wrong; a field of the wrong
shape is then as good as none, and the schema's own error says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NOTHING: Mapping[str, Any] = {}


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else NOTHING


def items(value: Any) -> Sequence[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def at(value: Any, *path: str) -> Mapping[str, Any]:
    """Return the mapping under these keys, empty where there is none."""
    for key in path:
        value = mapping(value).get(key)
    return mapping(value)


def named(values: Any, name: str) -> int | None:
    """Return the index of the first item with this name."""
    for index, value in enumerate(items(values)):
        if mapping(value).get("name") == name:
            return index
    return None
