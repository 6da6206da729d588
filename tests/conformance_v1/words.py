"""Refusals in the words of an API server and its webhooks, to be compared with recorded ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kfp_trainer.runtime_operator.errors import FieldError

Json = Mapping[str, Any]
STEP = re.compile(r"[^.\[\]]+")


def refusal(document: Json, errors: Sequence[FieldError], *, by_schema: bool) -> str:
    """The message of a refusal."""
    told = [_told(document, each) for each in errors]
    listed = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    if not by_schema:
        return listed
    return f'{document["kind"]}.kubeflow.org "{document["metadata"]["name"]}" is invalid: {listed}'


def _told(document: Json, error: FieldError) -> str:
    field = error.field or "<nil>"
    match error.type:
        case "FieldValueRequired":
            return f"{field}: Required value" + (f": {error.detail}" if error.detail else "")
        case "FieldValueForbidden":
            return f"{field}: Forbidden: {error.detail}"
        case "FieldValueNotSupported":
            return f'{field}: Unsupported value: "{_named(document, field)}": {error.detail}'
        case "FieldValueDuplicate":
            key = {"name": _at(document, field)["name"]}
            return f"{field}: Duplicate value: {json.dumps(key, separators=(',', ':'))}"
        case "FieldValueTypeInvalid":
            kind = error.detail.rpartition(": ")[2]
            return f"{field}: Invalid value: {kind}: {error.detail}"
    value = "null" if not error.field else json.dumps(_at(document, field))
    return f"{field}: Invalid value: {value}: {error.detail}"


def _named(document: Json, path: str) -> Any:
    """The value that is not supported: of a role its name."""
    found = _at(document, path)
    return path.rpartition("[")[2].rstrip("]") if isinstance(found, Mapping) else found


def _at(document: Any, path: str) -> Any:
    for step in STEP.findall(path):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document
