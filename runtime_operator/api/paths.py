"""How Kubernetes writes where a field is, and the mistakes found there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import FieldError

INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
DUPLICATE = "FieldValueDuplicate"
NOT_SUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
WRONG_TYPE = "FieldValueTypeInvalid"

JOBS = "spec.template.spec.replicatedJobs"
"""the jobs of a runtime"""

STEP = re.compile(r"[^.\[\]]+")

Errors = list[FieldError]


def child(path: str, name: object) -> str:
    """Return the path of a field."""
    return f"{path}.{name}" if path else str(name)


def invalid(path: str, detail: str) -> FieldError:
    """Return the mistake of a value that breaks a rule."""
    return FieldError(path, detail, INVALID)


def not_supported(path: str, known: Iterable[str]) -> FieldError:
    """Return the mistake of a value that is none of those there are."""
    return FieldError(path, f"supported values: {', '.join(map(json.dumps, known))}", NOT_SUPPORTED)


def value_at(document: Any, path: str) -> Any:
    """Return the value at a path; None where nothing is."""
    for step in STEP.findall(path):
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document
