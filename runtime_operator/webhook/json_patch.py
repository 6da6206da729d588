"""The difference of two documents as a JSON patch (RFC 6902), the form in which admission may change one.

Small on purpose: an object is compared key by key, a list of unchanged length item by item, and anything else
is replaced as a whole. What is the same makes no operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Operation = dict[str, Any]


def json_patch(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Yield the operations that turn one document into the other."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_mappings(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from json_patch(old, new, f"{path}/{index}")
    else:
        yield {"op": "replace", "path": path, "value": after}


def _of_mappings(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Operation]:
    for key in before.keys() - after.keys():
        yield {"op": "remove", "path": _below(path, key)}
    for key, value in after.items():
        if key in before:
            yield from json_patch(before[key], value, _below(path, key))
        else:
            yield {"op": "add", "path": _below(path, key), "value": value}


def _below(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
