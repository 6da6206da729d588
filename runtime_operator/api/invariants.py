"""The CEL rules of a schema, decided by their Python twins.

Rules that compare with the old value are asked only where there is one; other rules are not asked again
about what an update leaves as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError
from .correlate import counterpart
from .node import BoundRule, Node
from .paths import child, invalid


def invariants(node: Node, value: Any, old: Any = None, *, path: str = "") -> Iterator[FieldError]:
    """Yield each rule that a value, or something below it, breaks."""
    if not node.ruled or (old is not None and value == old):
        return
    if type(old) is not type(value):
        old = None
    for rule in node.rules:
        if old is not None or not rule.transition:
            yield from _broken(rule, value, old, path)
    if isinstance(value, Mapping):
        before = old if isinstance(old, Mapping) else {}
        for name, one in value.items():
            if (below := node.properties.get(name)) is not None:
                yield from invariants(below, one, before.get(name), path=child(path, name))
    elif isinstance(value, list | tuple) and node.items is not None:
        for index, item in enumerate(value):
            yield from invariants(node.items, item, counterpart(node, item, old), path=f"{path}[{index}]")


def _broken(rule: BoundRule, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    try:
        if rule.holds(value, old):
            return
    except KeyError as missing:
        yield invalid(path, f"no such key: {missing.args[0]} evaluating rule: {rule.message}")
        return
    yield invalid(child(path, rule.child) if rule.child else path, rule.message)
