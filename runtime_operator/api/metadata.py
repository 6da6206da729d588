"""Names, labels and annotations, as an API server checks them on any object.

Part of what a person is told offline; Trainer's own schema starts after it, so comparison with upstream
leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError
from .paths import REQUIRED, TOO_LONG, WRONG_TYPE, invalid
from .shapes import mapping

SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LABEL_VALUE = rf"({NAME_PART})?"
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{SUBDOMAIN}')"
)
NAME_PART_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{NAME_PART}')"
)
LABEL_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    f"for validation is '{LABEL_VALUE}')"
)
ANNOTATIONS_SIZE = 256 * 1024
"""How many bytes all annotations of an object may have."""


def metadata_shape(document: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield each value that an API server cannot even read, in whatever mode."""
    metadata = mapping(document.get("metadata"))
    for field in ("name", "generateName", "namespace"):
        if not isinstance(metadata.get(field, ""), str | None):
            yield _no_string(f"metadata.{field}", metadata[field])
    for field in ("labels", "annotations"):
        path, values = f"metadata.{field}", metadata.get(field)
        if not isinstance(values, Mapping | None):
            yield FieldError(path, f"must be a map of strings, got {values!r}", WRONG_TYPE)
        for key, value in mapping(values).items():
            if not isinstance(value, str):
                yield _no_string(f"{path}[{key}]", value)


def metadata_errors(document: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield what an API server finds wrong with metadata it can read."""
    metadata = mapping(document.get("metadata"))
    if name := metadata.get("name"):
        yield from _subdomain(str(name), "metadata.name")
    elif not metadata.get("generateName"):
        yield FieldError("metadata.name", "name or generateName is required", REQUIRED)
    for key, value in mapping(metadata.get("labels")).items():
        yield from _qualified_name(str(key), "metadata.labels")
        yield from _label_value(str(value), "metadata.labels")
    annotations = mapping(metadata.get("annotations"))
    for key in annotations:
        yield from _qualified_name(str(key).lower(), "metadata.annotations")
    if sum(len(f"{key}{value}".encode()) for key, value in annotations.items()) > ANNOTATIONS_SIZE:
        yield FieldError("metadata.annotations", f"may not be more than {ANNOTATIONS_SIZE} bytes", TOO_LONG)


def _no_string(path: str, value: Any) -> FieldError:
    return FieldError(path, f"must be a string, got {value!r}: put it in quotes", WRONG_TYPE)


def _subdomain(name: str, path: str) -> Iterator[FieldError]:
    if len(name.encode()) > 253:
        yield invalid(path, "must be no more than 253 bytes")
    if not re.fullmatch(SUBDOMAIN, name):
        yield invalid(path, SUBDOMAIN_RULE)


def _label_value(value: str, path: str) -> Iterator[FieldError]:
    if len(value.encode()) > 63:
        yield invalid(path, "must be no more than 63 bytes")
    if not re.fullmatch(LABEL_VALUE, value):
        yield invalid(path, LABEL_RULE)


def _qualified_name(key: str, path: str) -> Iterator[FieldError]:
    prefix, slash, name = key.rpartition("/")
    if slash and not re.fullmatch(SUBDOMAIN, prefix):
        yield invalid(path, f"prefix part {SUBDOMAIN_RULE}")
    if len(name) > 63:
        yield invalid(path, "name part must be no more than 63 bytes")
    if not re.fullmatch(NAME_PART, name):
        yield invalid(path, NAME_PART_RULE)
