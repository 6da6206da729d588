"""What upstream loses because its types cannot tell zero from absent; only for comparison with it.

Upstream reads a template into Go structs and writes it again. Numbers and booleans that are neither
pointers nor required vanish on the way where they are zero. Env of a TrainJob is copied field by field,
and fields that the copier does not know stay behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .overlay import Object

_ZERO_IS_ABSENT = frozenset(
    (
        *("jobIndex", "podIndex", "maxRestarts", "replicas", "partition"),
        *("sslEnabled", "chapAuthDiscovery", "chapAuthSession"),
        *("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "hostPort", "readOnly"),
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
    )
)
_POINTERS = frozenset(("csi", "azureDisk"))
"""volume sources whose readOnly is a pointer"""
_DIVIDED, _NO_DIVISOR = "resourceFieldRef", {"divisor": "0"}
"""the one field that is written where it was absent"""
_FREE_FORM = frozenset(("labels", "annotations", "nodeSelector", "matchLabels", "limits", "requests"))
"""maps whose keys are a user's"""


def typed(value: Any) -> Any:
    """The value as upstream's types write it; what does not change is shared."""
    if isinstance(value, Mapping):
        return _typed_map(value)
    if isinstance(value, list):
        items = [typed(each) for each in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _typed_map(value: Object) -> Object:
    changed: dict[str, Any] = {}
    same = True
    for key, old in value.items():
        if key in _ZERO_IS_ABSENT and not old and old is not None:
            same = False
            continue
        new = old if key in _FREE_FORM or key in _POINTERS else typed(old)
        if key == _DIVIDED and "divisor" not in old:
            new = {**_NO_DIVISOR, **old}
        same = same and new is old
        changed[key] = new
    return value if same else changed


def copied_env(env: Iterable[Object]) -> Iterator[Object]:
    """Env of a TrainJob as upstream copies it: four kinds of sources, and of those the fields it knows."""
    for entry in env:
        source = entry.get("valueFrom")
        if source is None:
            yield entry
        else:
            yield {"name": entry["name"], "valueFrom": _copied_source(source)}


def _copied_source(source: Object) -> Object:
    copied: dict[str, Any] = {
        key: source[key] for key in ("configMapKeyRef", "secretKeyRef") if key in source
    }
    if "fieldRef" in source:
        copied["fieldRef"] = {"fieldPath": source["fieldRef"]["fieldPath"]}
    if _DIVIDED in source:
        copied[_DIVIDED] = {**_NO_DIVISOR, **source[_DIVIDED]}
    return copied
