"""Everything an API server with our CRDs says about a document, without one.

In its order: unknown fields are dropped (`kubectl`, which asks for strict validation, is refused instead),
defaults filled in, then types and bounds, then duplicates, and CEL rules only where nothing stands in their
way. With `compat="upstream"` the CRDs are those of Trainer 2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import FieldError
from .conform import conform, json_type
from .duplicates import duplicates
from .invariants import invariants
from .metadata import metadata_errors, metadata_shape
from .modernise import modernise
from .names import (
    API_VERSION,
    CLUSTER_TRAINING_RUNTIME,
    KINDS,
    OLD_API_VERSION,
    RESERVED_PREFIXES,
    TRAIN_JOB,
)
from .node import kind_node
from .paths import FORBIDDEN, NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, WRONG_TYPE, Errors, invalid
from .read import MODELS
from .shapes import at, mapping
from .store import store
from .wire import Compat

BLOCKING = frozenset((NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, WRONG_TYPE))
"""After such a mistake an API server asks no CEL rule."""
UNCHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with a document, what is odd about it, and what would be stored."""

    errors: tuple[FieldError, ...]
    warnings: tuple[str, ...]
    unknown_fields: tuple[str, ...]
    stored: dict[str, Any]


def check(document: Any, *, old: Mapping[str, Any] | None = None, compat: Compat = None) -> Checked:
    """Return what an API server says about a new document, or about an update of `old`."""
    if (refused := _not_ours(document, compat)) is not None:
        return Checked((refused,), (), (), {})
    node = kind_node(MODELS[document["kind"]], compat=compat)
    stored, unknown = store(node, document)
    before = None if old is None else store(node, old)[0]
    errors: Errors = [*metadata_shape(stored), *conform(node, stored, before)]
    if before is None or not any(duplicates(node, before)):
        errors += duplicates(node, stored)
    if not compat:
        errors += [*metadata_errors(stored), *_reserved(stored)]
    if any(error.type in BLOCKING for error in errors):
        errors.append(invalid("", UNCHECKED))
    else:
        errors += invariants(node, _with_name(stored), before and _with_name(before))
    owner = f"{document['kind']}/{at(document, 'metadata').get('name', '')}"
    warnings = () if compat else modernise(stored)[1]
    return Checked(
        tuple(replace(error, object=owner) for error in errors),
        warnings,
        unknown,
        _with_namespace(stored),
    )


def _not_ours(document: Any, compat: Compat) -> FieldError | None:
    if not isinstance(document, Mapping):
        return FieldError(
            "", f"must be a mapping with apiVersion and kind, got {json_type(document)}", WRONG_TYPE
        )
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind not in KINDS:
        return FieldError("kind", f"must be one of {', '.join(KINDS)}, got {kind!r}", NOT_SUPPORTED)
    versions = (API_VERSION,) if compat else (API_VERSION, OLD_API_VERSION)
    if version not in versions:
        return FieldError("apiVersion", f"must be {versions[0]}, got {version!r}", NOT_SUPPORTED, f"{kind}/")
    return None


def _reserved(document: Mapping[str, Any]) -> Iterator[FieldError]:
    """Older fields that set what only the controllers may set."""
    if document["kind"] != TRAIN_JOB:
        return
    for field in ("labels", "annotations"):
        for key in at(document, "spec", field):
            if str(key).startswith(RESERVED_PREFIXES):
                detail = f"{key} is set by the controllers alone: remove it"
                yield FieldError(f"spec.{field}", detail, FORBIDDEN)


def _with_name(document: dict[str, Any]) -> dict[str, Any]:
    """The document with a name such as an API server makes from generateName."""
    metadata = mapping(document.get("metadata"))
    if metadata.get("name") or not metadata.get("generateName"):
        return document
    return {**document, "metadata": {**metadata, "name": f"{metadata['generateName']}xxxxx"}}


def _with_namespace(document: dict[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    if (
        document["kind"] == CLUSTER_TRAINING_RUNTIME
        or not isinstance(metadata, Mapping)
        or metadata.get("namespace")
    ):
        return document
    return {**document, "metadata": {**metadata, "namespace": "default"}}
