"""Refusals as Kubernetes' own programs and v1's webhooks word them: path, kind of fault, value, detail.

Scripts look for these texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..api.paths import DUPLICATE, FORBIDDEN, NOT_SUPPORTED, REQUIRED, STEP, WRONG_TYPE, value_at
from ..errors import FieldError

Json = Mapping[str, Any]
KEYS: Mapping[str, tuple[str, ...]] = {
    "ports": ("containerPort", "protocol"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
}
"""what tells the items of a list apart; those of others have names"""


def refusal(document: Json, errors: Sequence[FieldError]) -> str:
    """The message about a document; several faults stand in a list."""
    told = list(dict.fromkeys(_told(document, each) for each in errors))
    if not told:
        return ""
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def _told(document: Json, error: FieldError) -> str:
    field = error.field or "<nil>"
    if error.type == REQUIRED:
        return f"{field}: Required value" + (f": {error.detail}" if error.detail else "")
    if error.type == FORBIDDEN:
        return f"{field}: Forbidden: {error.detail}"
    if error.type == NOT_SUPPORTED:
        return f'{field}: Unsupported value: "{_named(document, field)}": {error.detail}'
    if error.type == DUPLICATE:
        return f"{field}: Duplicate value: {json.dumps(_key(document, field), separators=(',', ':'))}"
    if error.type == WRONG_TYPE:
        kind = error.detail.rpartition(": ")[2]
        return f"{field}: Invalid value: {kind}: {error.detail}"
    value = "null" if not error.field else json.dumps(value_at(document, field))
    return f"{field}: Invalid value: {value}: {error.detail}"


def _key(document: Json, path: str) -> Json:
    """What an item shares with another one of its list."""
    item = {"protocol": "TCP", **value_at(document, path)}
    return {name: item[name] for name in KEYS.get(STEP.findall(path)[-2], ("name",))}


def _named(document: Json, path: str) -> Any:
    """The value that is not supported: of a role its name."""
    found = value_at(document, path)
    return path.rpartition("[")[2].rstrip("]") if isinstance(found, Mapping) else found
