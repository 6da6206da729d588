"""What an API server says about a job of an older kind, without one.

The same steps as for our own kinds (`api.check`): unknown fields are dropped and told, defaults filled in,
then types, duplicates and the one CEL rule. Workers that can be scaled must not be negative, as the scale
subresource has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...errors import FieldError
from ..check import BLOCKING, UNCHECKED, Checked
from ..conform import conform
from ..duplicates import duplicates
from ..invariants import invariants
from ..metadata import metadata_errors, metadata_shape
from ..paths import NOT_SUPPORTED, Errors, invalid
from ..shapes import at
from ..store import store
from .kinds import LEGACY_KINDS, LegacyKind, kind_of
from .schema import legacy_node
from .versions import not_served, versions_of

NOT_NEGATIVE = "should be a non-negative integer"


def check_legacy(document: Mapping[str, Any], *, old: Mapping[str, Any] | None = None) -> Checked:
    """Return what an API server says about a new job, or about an update of `old`."""
    kind = kind_of(document)
    if kind is None or document.get("apiVersion") not in versions_of(kind.name):
        return Checked((_not_served(document, kind),), (), (), {})
    node = legacy_node(kind)
    stored, unknown = store(node, document)
    before = None if old is None else store(node, old)[0]
    errors: Errors = [*metadata_shape(stored), *conform(node, stored, before)]
    if before is None or not any(duplicates(node, before)):
        errors += duplicates(node, stored)
    errors += metadata_errors(stored)
    if any(error.type in BLOCKING for error in errors):
        errors.append(invalid("", UNCHECKED))
    else:
        errors += [*invariants(node, stored, before), *_negative_scale(kind, stored)]
    owner = f"{kind.name}/{at(document, 'metadata').get('name', '')}"
    return Checked(
        tuple(replace(error, object=owner) for error in errors),
        (),
        unknown,
        _with_namespace(stored),
    )


def _not_served(document: Mapping[str, Any], kind: LegacyKind | None) -> FieldError:
    if kind is None:
        detail = f"must be one of {', '.join(LEGACY_KINDS)}, got {document.get('kind')!r}"
        return FieldError("kind", detail, NOT_SUPPORTED)
    return FieldError("apiVersion", not_served(document), NOT_SUPPORTED, f"{kind.name}/")


def _negative_scale(kind: LegacyKind, stored: Mapping[str, Any]) -> Iterator[FieldError]:
    """A leading dot in the path, as the API server's own check of scale subresources writes it."""
    workers = at(stored, "spec", kind.field, "Worker").get("replicas", 0)
    if kind.scales and workers < 0:
        yield invalid(f".spec.{kind.field}.Worker.replicas", NOT_NEGATIVE)


def _with_namespace(document: dict[str, Any]) -> dict[str, Any]:
    metadata = at(document, "metadata")
    return (
        document
        if metadata.get("namespace")
        else {**document, "metadata": {**metadata, "namespace": "default"}}
    )
