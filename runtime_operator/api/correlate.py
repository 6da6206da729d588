"""Which old item of a list an item is the new form of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .node import Node


def counterpart(node: Node, item: Any, old: Any) -> Any:
    """Return the old item with the same keys, or None; only lists with keys can tell."""
    if not node.keys or not isinstance(item, Mapping) or not isinstance(old, list | tuple):
        return None
    keys = [item.get(key) for key in node.keys]
    for other in old:
        if isinstance(other, Mapping) and [other.get(key) for key in node.keys] == keys:
            return other
    return None
