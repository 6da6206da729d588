"""From models to structural schemas: what an API server is told about our kinds.

Types come from the annotations, everything else from `wire`. Two schemas come out: ours, and Trainer 2.3's,
which is ours without what is marked as ours. An API server cannot tell which item of an atomic list an old
item became, so rules that compare with the old value are left out below such a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from .base import Kind, Part
from .kube import Schema, kube_schema
from .wire import Compat, Rule, Wire

INT_OR_STRING: Mapping[str, Any] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
SCALARS: Mapping[Any, Mapping[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int32"},
    str: {"type": "string"},
    int | str: INT_OR_STRING,
}


@cache
def kind_schema(kind: type[Kind], *, compat: Compat = None) -> Schema:
    """Return the schema of a whole kind; shared, not to be changed."""
    schema = _object(kind, compat, correlated=True)
    required = [] if compat else [name for name in schema["required"] if name != "metadata"]
    del schema["required"]
    return schema | _required(required) | _rules(kind.RULES, correlated=True)


def _object(model: type[Part], compat: Compat, *, correlated: bool) -> Schema:
    properties, required = {}, []
    for name, info in sorted(model.model_fields.items()):
        wire = next(one for one in info.metadata if isinstance(one, Wire))
        if compat and wire.ours:
            continue
        properties[name] = _field(info, wire, compat, correlated=correlated)
        if info.is_required():
            required.append(name)
    schema: Schema = {"type": "object"}
    if properties:
        schema["properties"] = properties
    return schema | _required(required)


def _required(names: list[str]) -> Schema:
    return {"required": names} if names else {}


def _field(info: FieldInfo, wire: Wire, compat: Compat, *, correlated: bool) -> Schema:
    keywords = {**wire.keywords} if compat else {**wire.keywords, **wire.our}
    below = correlated and keywords.get("x-kubernetes-list-type") != "atomic"
    schema = {**_type(_bare(info.annotation), wire, compat, correlated=below), **keywords}
    if schema.get("format", "") is None:
        del schema["format"]
    rules = wire.rules if compat else (*wire.rules, *wire.our_rules)
    described = {"description": wire.doc} if wire.doc and not compat else {}
    return described | schema | _rules(rules, correlated=correlated)


def _bare(annotation: Any) -> Any:
    """The type without None: an optional field may be left out, never null."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    kept = [one for one in get_args(annotation) if one is not type(None)]
    return kept[0] if len(kept) == 1 else int | str


def _type(annotation: Any, wire: Wire, compat: Compat, *, correlated: bool) -> Schema:
    if annotation in SCALARS:
        return dict(SCALARS[annotation])
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (list, tuple):
        items = _type(args[0], wire, compat, correlated=correlated)
        return {"type": "array", "items": items | dict(wire.items)}
    if wire.kube:
        return kube_schema(wire.kube)
    model = wire.shape or annotation
    if isinstance(model, type) and issubclass(model, Part):
        return _object(model, compat, correlated=correlated)
    if args == (str, str):
        return {"type": "object", "additionalProperties": {"type": "string"} | dict(wire.items)}
    return {"type": "object"}


def _rules(rules: tuple[Rule, ...], *, correlated: bool) -> Schema:
    kept = [_rule(rule) for rule in rules if correlated or "oldSelf" not in rule.cel]
    return {"x-kubernetes-validations": kept} if kept else {}


def _rule(rule: Rule) -> dict[str, str]:
    where = {"fieldPath": rule.field_path} if rule.field_path else {}
    return {**where, "message": rule.message, "rule": rule.cel}
