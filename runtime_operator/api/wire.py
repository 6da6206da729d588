"""How a field of our models stands in a CRD: its words for an API server, beside its Python type.

A model says for Python what a field is; `wire` says the rest in the CRD's own keywords: bounds, defaults,
list keys, CEL rules. One model makes two schemas: ours, and exactly that of Trainer 2.3 for comparison, so
a keyword or a whole field can be marked as ours alone. Nothing here is looked at when a document is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Compat = Literal["upstream"] | None
"""`upstream`: Trainer 2.3 exactly, for tests and comparison; None: what we serve."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule of a schema, and what is said where it is broken."""

    cel: str
    message: str
    field_path: str = ""
    """the field below that is to blame, as `.trainer`"""


@dataclass(frozen=True, slots=True)
class Wire:
    """Everything about a field that its Python type does not say."""

    doc: str
    kube: str = ""
    """the name of a Kubernetes schema that stands here"""
    shape: type | None = None
    """a model that describes a field which stays a plain dict when it is parsed"""
    ours: bool = False
    """upstream has no such field"""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[str, Any] = field(default_factory=dict)
    """keywords of the items of a list or the values of a map"""
    rules: tuple[Rule, ...] = ()
    our: Mapping[str, Any] = field(default_factory=dict)
    """keywords that replace those above in our schema"""
    our_rules: tuple[Rule, ...] = ()


def wire(
    doc: str,
    *,
    kube: str = "",
    shape: type | None = None,
    ours: bool = False,
    items: Mapping[str, Any] | None = None,
    rules: tuple[Rule, ...] = (),
    our: Mapping[str, Any] | None = None,
    our_rules: tuple[Rule, ...] = (),
    **keywords: Any,
) -> Wire:
    """Describe a field; `keywords` are those of the CRD (minimum, maxLength, default …)."""
    return Wire(doc, kube, shape, ours, keywords, items or {}, rules, our or {}, our_rules)


def keyed(*keys: str) -> dict[str, Any]:
    """Return the keywords of a list whose items are told apart by these fields."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


ATOMIC: Mapping[str, Any] = {"x-kubernetes-list-type": "atomic"}
"""A list that is replaced as a whole."""
OPEN: Mapping[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
"""An object whose fields the schema does not name."""
IMMUTABLE = Rule("self == oldSelf", "field is immutable")
"""The rule of every field that is fixed once it is set."""
