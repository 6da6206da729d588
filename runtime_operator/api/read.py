"""The quick typed view of a document that an API server has already validated.

Defaults of the schema are filled in, older spellings become today's fields, and nothing is copied that need
not be. Whether a document keeps the rules is for `check`; here only a shape nobody could read is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ..errors import FieldError, SpecError
from .modernise import modernise
from .names import KINDS
from .paths import NOT_SUPPORTED
from .runtime import ClusterTrainingRuntime, TrainingRuntime
from .trainjob import TrainJob
from .wire import Compat

AnyKind = TrainJob | TrainingRuntime | ClusterTrainingRuntime
MODELS: Mapping[str, type[AnyKind]] = {
    model.__name__: model for model in (TrainJob, TrainingRuntime, ClusterTrainingRuntime)
}


def read(document: Mapping[str, Any], *, compat: Compat = None) -> AnyKind:
    """Return the typed view of a stored document; SpecError names each field of a wrong shape."""
    kind = document.get("kind")
    model = MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        detail = f"must be one of {', '.join(KINDS)}, got {kind!r}"
        raise SpecError([FieldError("kind", detail, NOT_SUPPORTED)])
    today, warnings = (document, ()) if compat else modernise(document)
    try:
        parsed = model.model_validate(today)
    except ValidationError as error:
        raise SpecError(list(_field_errors(error, document))) from error
    parsed._raw = document
    parsed._warnings = warnings
    return parsed


def _field_errors(error: ValidationError, document: Mapping[str, Any]) -> list[FieldError]:
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, Mapping) else ""
    owner = f"{document.get('kind')}/{name}"
    return [
        FieldError(field_path(one["loc"]), one["msg"][:1].lower() + one["msg"][1:], object=owner)
        for one in error.errors(include_url=False, include_context=False)
    ]


def field_path(location: tuple[int | str, ...]) -> str:
    """Return a location as Kubernetes writes it: `spec.trainer.env[0].name`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".")
