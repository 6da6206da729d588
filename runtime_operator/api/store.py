"""A document as an API server stores it: unknown fields dropped, nulls dropped, defaults filled in.

The given document never changes. Fields of `metadata` are the server's own and pass as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .node import NOWHERE, TYPE_META, Node


def store(node: Node, document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the stored document, and the paths of the fields that the schema does not know."""
    unknown: list[str] = []
    stored = _fields(node, document, "", unknown)
    return stored, tuple(sorted(unknown))


def _fields(node: Node, value: Mapping[str, Any], path: str, unknown: list[str]) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for name, child in value.items():
        where = f"{path}.{name}" if path else str(name)
        if not path and name in TYPE_META:
            stored[name] = child
        elif (below := node.properties.get(name, node.extra)) is None:
            unknown.append(where)
        elif child is None and "nullable" not in below.keywords:
            continue
        else:
            stored[name] = _value(below, child, where, unknown)
    for name, default in node.defaults.items():
        stored.setdefault(name, default)
    return stored


def _value(node: Node, value: Any, path: str, unknown: list[str]) -> Any:
    if "x-kubernetes-preserve-unknown-fields" in node.keywords:
        return value
    if isinstance(value, Mapping):
        return _fields(node, value, path, unknown)
    if isinstance(value, list | tuple):
        below = node.items or NOWHERE
        return [_value(below, one, f"{path}[{index}]", unknown) for index, one in enumerate(value)]
    return value
