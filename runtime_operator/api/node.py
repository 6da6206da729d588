"""A schema made ready for walking: what each place of a document may hold, looked up once.

A structural schema says for every place one type, its bounds and what is below. Nodes hold the same in a form
that is quick to walk with a document in hand, and shared wherever a schema is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .base import Kind
from .rules import PREDICATES, Predicate
from .schema import kind_schema
from .wire import Compat

TYPE_META = ("apiVersion", "kind", "metadata")
"""Fields of a whole object that no schema prunes."""


@dataclass(frozen=True, slots=True)
class BoundRule:
    """A CEL rule and what decides it."""

    holds: Predicate
    message: str
    child: str
    """the field below that is to blame, or empty"""
    transition: bool
    """whether the rule compares with the old value"""


@dataclass(frozen=True, slots=True)
class Node:
    """One place of a schema."""

    keywords: Mapping[str, Any]
    types: tuple[str, ...]
    properties: Mapping[str, Node]
    extra: Node | None
    """what the values of a map are"""
    items: Node | None
    defaults: Mapping[str, Any]
    """defaults of the properties"""
    pattern: re.Pattern[str] | None
    keys: tuple[str, ...]
    """fields that tell items of a list apart"""
    rules: tuple[BoundRule, ...]
    ruled: bool = field(default=False)
    """whether a rule stands here or below"""
    listed: bool = field(default=False)
    """whether a list whose items are told apart stands here or below"""


NOWHERE = Node({}, (), {}, None, None, {}, None, (), ())
"""A place that the schema does not know: every field there is dropped."""


@cache
def kind_node(kind: type[Kind], *, compat: Compat = None) -> Node:
    """Return the root of a kind's schema."""
    return make_node(kind_schema(kind, compat=compat))


def make_node(schema: Mapping[str, Any]) -> Node:
    """Make a structural schema ready for walking."""
    properties = {name: make_node(one) for name, one in schema.get("properties", {}).items()}
    extra = make_node(schema["additionalProperties"]) if "additionalProperties" in schema else None
    items = make_node(schema["items"]) if "items" in schema else None
    below = [*properties.values(), *(each for each in (extra, items) if each is not None)]
    rules = tuple(_rule(rule) for rule in schema.get("x-kubernetes-validations", ()))
    return Node(
        keywords=schema,
        types=_types(schema),
        properties=properties,
        extra=extra,
        items=items,
        defaults={
            name: one.keywords["default"] for name, one in properties.items() if "default" in one.keywords
        },
        pattern=_pattern(schema.get("pattern")),
        keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
        rules=rules,
        ruled=bool(rules) or any(one.ruled for one in below),
        listed=schema.get("x-kubernetes-list-type") in ("map", "set") or any(one.listed for one in below),
    )


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    if "x-kubernetes-int-or-string" in schema:
        return ("integer", "string")
    return (schema["type"],) if "type" in schema else ()


def _pattern(text: str | None) -> re.Pattern[str] | None:
    """Go's `$` is the very end; Python's also stands before a last line break."""
    return None if text is None else re.compile(re.sub(r"\$$", r"\\Z", text))


def _rule(rule: Mapping[str, str]) -> BoundRule:
    return BoundRule(
        holds=PREDICATES[rule["rule"]],
        message=rule["message"],
        child=rule.get("fieldPath", "").removeprefix("."),
        transition="oldSelf" in rule["rule"],
    )
