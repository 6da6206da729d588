"""The values of fieldRef and resourceFieldRef: what a pod may know of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...render.quantity import read
from .place import Place
from .pod import Object, containers, name_of, namespace_of

_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")
_PATHS = frozenset(
    f"{head}.{tail}"
    for head, tails in {
        "metadata": ("name", "namespace", "uid", "labels", "annotations"),
        "spec": ("nodeName", "serviceAccountName"),
        "status": ("hostIP", "hostIPs", "podIP", "podIPs"),
    }.items()
    for tail in tails
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has: the value of a limit that a container does not set."""

    cpu: str
    memory: str


def is_known_field(path: str) -> bool:
    """Tell whether a fieldPath has a value here."""
    return path in _PATHS or _KEYED.fullmatch(path) is not None


def field_value(path: str, pod: Object, place: Place) -> str:
    """Return what a fieldRef stands for; an absent label or annotation is empty."""
    metadata, spec = pod["metadata"], pod["spec"]
    if match := _KEYED.fullmatch(path):
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    values = {
        "metadata.name": name_of(pod),
        "metadata.namespace": namespace_of(pod),
        "metadata.uid": str(metadata.get("uid") or ""),
        "metadata.labels": _lines(metadata.get("labels") or {}),
        "metadata.annotations": _lines(metadata.get("annotations") or {}),
        "spec.nodeName": place.node_name,
        "spec.serviceAccountName": str(spec.get("serviceAccountName") or "default"),
    }
    addresses = {"status.hostIP": place.host_ip, "status.podIP": place.pod_ip}
    addresses |= {f"{name}s": address for name, address in addresses.items()}
    return {**values, **addresses}[path]


def _lines(pairs: Mapping[str, str]) -> str:
    """Write pairs as a downward API file holds them: sorted, the value as a quoted string."""
    return "\n".join(f"{key}={_quoted(value)}" for key, value in sorted(pairs.items()))


def _quoted(text: str) -> str:
    """Quote as Go does, for the characters that labels and annotations hold in practice."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


def resource_value(source: Object, container: Object, pod: Object, machine: Machine) -> str:
    """Return what a resourceFieldRef stands for, in its divisor, rounded up."""
    wanted = source.get("containerName")
    if wanted:
        container = next(one.spec for one in containers(pod) if one.name == wanted)
    kind, _, name = source["resource"].partition(".")
    resources = container.get("resources") or {}
    amount = (resources.get(kind) or {}).get(name)
    if amount is None and kind == "requests":
        amount = (resources.get("limits") or {}).get(name)
    if amount is None:
        amount = {"cpu": machine.cpu, "memory": machine.memory}.get(name, 0) if kind == "limits" else 0
    divisor = read(source.get("divisor") or 1).nano or read(1).nano
    return str(-(-read(amount).nano // divisor))
