"""Types, bounds and required fields: what the OpenAPI part of a schema says, in an API server's own words.

Each message is the one Kubernetes gives for the same mistake, with its type and its place, odd corners
included: a value of a wrong type is still held against the enum, a number out of range is reported without
a path. What an update leaves as it was is not judged again, so that a bound added later does not lock an
object.
"""

from __future__ import annotations

import json
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError
from .correlate import counterpart
from .node import Node
from .paths import REQUIRED, TOO_LONG, TOO_MANY, WRONG_TYPE, child, invalid, not_supported

BITS = {"int32": 31, "int64": 63}
DATE_TIME = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})t"
    r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:.\d+)?(?:z|[+-]\d{2}:\d{2})",
    re.ASCII,
)


def conform(node: Node, value: Any, old: Any = None, *, path: str = "") -> Iterator[FieldError]:
    """Yield what is wrong with a value and everything below it."""
    if old is not None and value == old:
        return
    kind = json_type(value)
    yield from _type(node, value, kind, path)
    if kind == "string":
        yield from _string(node, value, path)
    elif kind in ("integer", "number"):
        yield from _number(node, value, path)
    elif kind == "array":
        yield from _array(node, value, old, path)
    if (enum := node.keywords.get("enum")) and value not in enum:
        yield not_supported(path, enum)
    if kind == "object":
        yield from _object(node, value, old, path)


def json_type(value: Any) -> str:
    """Return what JSON calls the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer" if abs(value) < 1 << 63 else "number"
        case float():
            return "number"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
    return "string"


def _type(node: Node, value: Any, kind: str, path: str) -> Iterator[FieldError]:
    whole = kind == "number" and "integer" in node.types and abs(value) < 1 << 53 and value == int(value)
    if not node.types or kind in node.types or whole:
        return
    form = node.keywords.get("format")
    if form and kind in ("string", "array") and "integer" not in node.types:
        return  # left to the format, which looks at strings alone
    expected, got = ",".join(node.types), kind
    if form and kind not in ("string", "array", "null"):
        expected, got = form, {"integer": "int64", "number": "float64"}.get(kind, "")
    yield FieldError(path, f'{path} in body must be of type {expected}: "{got}"', WRONG_TYPE)
    if "anyOf" in node.keywords and kind != "null":
        yield invalid("", f'"{path}" must validate at least one schema (anyOf)')
        yield FieldError(path, f'{path} in body must be of type {node.types[0]}: "{kind}"', WRONG_TYPE)
        if kind == "number":
            yield invalid("", f"Checked value must be of type integer (default format) in {path}")


def _string(node: Node, value: Any, path: str) -> Iterator[FieldError]:
    limits, size = node.keywords, len(str(value))
    if size > limits.get("maxLength", size):
        yield FieldError(path, f"may not be more than {limits['maxLength']} bytes", TOO_LONG)
    elif size < limits.get("minLength", 0):
        yield invalid(path, f"{path} in body should be at least {limits['minLength']} chars long")
    elif node.pattern is not None and node.pattern.search(str(value)) is None:
        yield invalid(path, f"{path} in body should match '{limits['pattern']}'")
    if limits.get("format") == "date-time" and not _is_date_time(str(value)):
        quoted = json.dumps(str(value), ensure_ascii=False)
        yield FieldError(path, f"{path} in body must be of type date-time: {quoted}", WRONG_TYPE)


def _is_date_time(text: str) -> bool:
    match = DATE_TIME.fullmatch(text.lower())
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    return 1 <= month <= 12 and 1 <= day <= (monthrange(year, month)[1] if year else 31)


def _number(node: Node, value: Any, path: str) -> Iterator[FieldError]:
    limits = node.keywords
    if node.types == ("integer",):
        form = limits.get("format")
        bound = 1 << BITS.get(form or "int64", 63)
        if not -bound <= value < bound or value != int(value):
            said = f"with format {form}" if form else "(default format)"
            yield invalid("", f"Checked value must be of type integer {said} in {path}")
    if value < limits.get("minimum", value):
        yield invalid(path, f"{path} in body should be greater than or equal to {limits['minimum']}")
    if value > limits.get("maximum", value):
        yield invalid(path, f"{path} in body should be less than or equal to {limits['maximum']}")


def _array(node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    limits, size = node.keywords, len(value)
    if node.items is not None:
        for index, item in enumerate(value):
            yield from conform(node.items, item, counterpart(node, item, old), path=f"{path}[{index}]")
    if size < limits.get("minItems", 0):
        yield invalid(path, f"{path} in body should have at least {limits['minItems']} items")
    if size > limits.get("maxItems", size):
        yield FieldError(path, f"must have at most {limits['maxItems']} items", TOO_MANY)


def _object(node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    limits, size = node.keywords, len(value)
    if size < limits.get("minProperties", 0):
        yield invalid(path, f"{path} in body should have at least {limits['minProperties']} properties")
    if size > limits.get("maxProperties", size):
        yield FieldError(path, f"must have at most {limits['maxProperties']} items", TOO_MANY)
    before = old if isinstance(old, Mapping) else {}
    for name, one in value.items():
        below = node.properties.get(name, node.extra)
        if below is not None:
            yield from conform(below, one, before.get(name), path=child(path, name))
    for name in limits.get("required", ()):
        if name not in value:
            yield FieldError(child(path, name), "", REQUIRED)
