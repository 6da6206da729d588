"""The two kinds of patch that a script uses: RFC 7396 (a mapping) and RFC 6902 (a list)."""

from __future__ import annotations

import copy
from typing import Any


def patched(document: Any, patch: Any) -> Any:
    """A document after a patch; the given one stays as it was."""
    document = copy.deepcopy(document)
    return _json_patch(document, patch) if isinstance(patch, list) else _merge(document, patch)


def _merge(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = document if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _json_patch(document: Any, operations: list[dict[str, Any]]) -> Any:
    for operation in operations:
        *parents, last = (_unescaped(part) for part in operation["path"].split("/")[1:])
        place = document
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place[part]
        _apply(place, last, operation)
    return document


def _apply(place: Any, key: str, operation: dict[str, Any]) -> None:
    value = copy.deepcopy(operation.get("value"))
    match operation["op"], place:
        case "add", list():
            place.insert(len(place) if key == "-" else int(key), value)
        case "remove", _:
            del place[int(key) if isinstance(place, list) else key]
        case "add" | "replace", _:
            place[int(key) if isinstance(place, list) else key] = value
        case other, _:
            raise ValueError(f"JSON patch: {other}: not used by any script")


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
