"""Lists whose items must differ: sets, and lists told apart by keys.

As in an API server, only the second item of an equal pair is reported, and an item that is no object in a
list told apart by keys ends the matter for that list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError
from .node import Node
from .paths import DUPLICATE, child, invalid


def duplicates(node: Node, value: Any, *, path: str = "") -> Iterator[FieldError]:
    """Yield each item that is there already."""
    if not node.listed:
        return
    if isinstance(value, list | tuple):
        yield from _list(node, value, path)
        if node.items is not None:
            for index, item in enumerate(value):
                yield from duplicates(node.items, item, path=f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if (below := node.properties.get(name)) is not None:
                yield from duplicates(below, one, path=child(path, name))
            elif node.extra is not None:
                yield from duplicates(node.extra, one, path=f"{path}[{name}]")


def _list(node: Node, value: Any, path: str) -> Iterator[FieldError]:
    if node.keys:
        for index, item in enumerate(value):
            if item is not None and not isinstance(item, Mapping):
                yield invalid(f"{path}[{index}]", "must be an object for an array of list-type map")
                return
        value = [
            {key: item[key] for key in node.keys if key in item} for item in (one or {} for one in value)
        ]
    elif node.keywords.get("x-kubernetes-list-type") != "set":
        return
    for index, item in enumerate(value):
        if value[:index].count(item) == 1:
            yield FieldError(f"{path}[{index}]", "", DUPLICATE)
