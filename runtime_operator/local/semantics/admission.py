"""What a JobSet is after admission, or why it is refused: the schema, JobSet's webhook, then this machine.

As on a cluster the schema speaks first, and alone if it has anything to say; so does the webhook after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...api.paths import NOT_SUPPORTED, REQUIRED, WRONG_TYPE
from ...errors import FieldError
from ...render import jobset_unfit
from ...render.jobset_rules import check_jobset
from . import schema
from .defaults import with_defaults
from .model import Json
from .unsupported import refuse_unsupported

FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A JobSet as it is stored, or why it is not."""

    jobset: Json
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def admit(jobset: Json) -> Admitted:
    """Admit a new JobSet: defaults filled in, everything wrong with it named."""
    misplaced = _not_a_jobset(jobset)
    if misplaced:
        return Admitted(jobset, (misplaced,))
    spec, unknown = schema.stored(jobset["spec"])
    admitted = {**jobset, "spec": with_defaults(spec)}
    errors = schema.faults(admitted)
    if not errors:
        errors = _refusal(admitted, (*_empty_dependency(spec), *check_jobset(admitted)))
    return Admitted(admitted, errors, _warnings(jobset, unknown))


def admit_change(old: Json, new: Json) -> Admitted:
    """Admit a change of a JobSet that exists: suspend, resume, a ttl, what a queue may set."""
    misplaced = _not_a_jobset(new)
    if misplaced:
        return Admitted(new, (misplaced,))
    spec, unknown = schema.stored(new["spec"])
    changed = {**new, "spec": spec}
    errors = schema.faults(changed, old) or _refusal(changed, check_jobset(changed, old=old))
    return Admitted(changed, errors, _warnings(new, unknown))


def _not_a_jobset(document: Any) -> FieldError | None:
    """What keeps a document from being read as a JobSet at all."""
    if not isinstance(document, Mapping) or (document.get("kind"), document.get("apiVersion")) != (
        schema.KIND,
        schema.API_VERSION,
    ):
        return FieldError("", f"must be a {schema.KIND} of {schema.API_VERSION}", NOT_SUPPORTED)
    for field in ("metadata", "spec"):
        if not isinstance(document.get(field), Mapping):
            return FieldError(field, "must be a mapping", WRONG_TYPE)
    if not document["metadata"].get("name"):
        return FieldError("metadata.name", "must be given; names are not generated here", REQUIRED)
    return None


def _refusal(jobset: Json, theirs: tuple[FieldError, ...]) -> tuple[FieldError, ...]:
    """What the webhook says, in its own words; where it says nothing, what is unfit for this machine."""
    unfit = {(error.field, error.detail) for error in jobset_unfit.check(jobset)}
    said = tuple(error for error in theirs if (error.field, error.detail) not in unfit)
    return said or refuse_unsupported(jobset)


def _warnings(document: Json, unknown: tuple[str, ...]) -> tuple[str, ...]:
    around = tuple(sorted(field for field in document if field not in FIELDS))
    return tuple(f'unknown field "{path}"' for path in (*around, *unknown))


def _empty_dependency(spec: Json) -> Iterator[FieldError]:
    """An empty list on the first replicated Job is refused as a full one is."""
    if spec.get("replicatedJobs") and spec["replicatedJobs"][0].get("dependsOn") == []:
        yield FieldError("", "DependsOn can't be set for the first ReplicatedJob", "InternalError")
