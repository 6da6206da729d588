"""Env, volumes and resources of a pod in words that need no knowledge of Kubernetes.

A manifest says `valueFrom.fieldRef.fieldPath`; a person wants to read "the index of the pod". Whatever has
no words of its own here is called by its Kubernetes name: nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..api.names import INDEX_FIELD_PATH
from .plan import Object

Words = Callable[[Any], str]


def env_value(variable: Object) -> str:
    """What a variable will hold."""
    source: Object = variable.get("valueFrom") or {}
    if not source:
        return str(variable.get("value", ""))
    kind, details = next(iter(source.items()))
    words = ENV_WORDS.get(kind)
    return kind if words is None else words(details)


def env_source(source: Object) -> str:
    """Where a whole bundle of variables comes from."""
    for kind, noun in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
        if kind in source:
            prefix = f", each behind {source['prefix']}" if source.get("prefix") else ""
            return f"all of {noun} {source[kind].get('name', '')}{prefix}"
    return "something unknown"


def _field(details: Object) -> str:
    path = details.get("fieldPath", "")
    return "the index of the pod" if path == INDEX_FIELD_PATH else f"{path} of the pod"


def _key_of(noun: str) -> Words:
    return lambda details: f"key {details.get('key', '')} of {noun} {details.get('name', '')}"


ENV_WORDS: Mapping[str, Words] = {
    "fieldRef": _field,
    "secretKeyRef": _key_of("Secret"),
    "configMapKeyRef": _key_of("ConfigMap"),
    "resourceFieldRef": lambda details: f"{details.get('resource', '')} of the container",
    "fileKeyRef": lambda details: f"key {details.get('key', '')} of the file {details.get('path', '')}",
}


def volume(source: Object) -> str:
    """What a volume is."""
    kind = next((key for key in source if key != "name"), "emptyDir")
    words = VOLUME_WORDS.get(kind)
    return kind if words is None else words(source.get(kind) or {})


def _empty(details: Object) -> str:
    where = "an empty folder in memory" if details.get("medium") == "Memory" else "an empty folder"
    size = details.get("sizeLimit")
    return f"{where} of at most {size}" if size else where


def _claim(details: Object) -> str:
    return f"claim {details.get('claimName', '')}{', read only' if details.get('readOnly') else ''}"


def _projected(details: Object) -> str:
    sources: list[Object] = details.get("sources") or []
    return " and ".join(PROJECTED_WORDS.get(kind, kind) for source in sources for kind in source)


PROJECTED_WORDS = {
    "serviceAccountToken": "a token",
    "configMap": "a ConfigMap",
    "secret": "a Secret",
    "downwardAPI": "facts about the pod",
}

VOLUME_WORDS: Mapping[str, Words] = {
    "emptyDir": _empty,
    "persistentVolumeClaim": _claim,
    "hostPath": lambda details: f"folder {details.get('path', '')} of the machine",
    "configMap": lambda details: f"ConfigMap {details.get('name', '')}",
    "secret": lambda details: f"Secret {details.get('secretName', '')}",
    "image": lambda details: f"the files of image {details.get('reference', '')}",
    "nfs": lambda details: f"{details.get('server', '')}:{details.get('path', '')}",
    "projected": _projected,
    "downwardAPI": lambda _: "facts about the pod",
    "ephemeral": lambda _: "a claim that lives as long as the pod",
}


def made_claim(template: Object, job: str) -> str:
    """What a claim is that JobSet makes for the job."""
    size = ((template.get("spec") or {}).get("resources") or {}).get("requests", {}).get("storage")
    name = f"{template['metadata']['name']}-{job}"
    return f"claim {name}, made for this job{f' ({size})' if size else ''}"


def amounts(requests: Mapping[str, Any]) -> str:
    """What a pod asks for, in one line."""
    return ", ".join(f"{amount} {name}" for name, amount in requests.items())
