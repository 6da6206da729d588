"""The CRDs, made from the models: three files, each small enough for a plain `kubectl apply`.

v1alpha1 is served and stored. v2alpha1, which only early texts know, has the same schema and needs no
conversion; it is served where somebody says so, for kubectl would prefer it. Columns and status subresource
are upstream's, so `kubectl get` shows what it always did.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .base import Kind
from .compact_yaml import dump
from .names import API_VERSION, GROUP, OLD_API_VERSION, OLD_VERSION, VERSION
from .runtime import ClusterTrainingRuntime, TrainingRuntime
from .schema import kind_schema
from .trainjob import TrainJob

HEADER = "# Made from the models of runtime_operator/api by `kfp-trainer crds`; change them, not this file.\n"
COLUMNS = (
    {"jsonPath": ".status.conditions[-1:].type", "name": "State", "type": "string"},
    {"jsonPath": ".metadata.creationTimestamp", "name": "Age", "type": "date"},
)


def crds() -> dict[str, dict[str, Any]]:
    """Return our CRDs by the name of their file."""
    kinds: tuple[tuple[type[Kind], str], ...] = (
        (ClusterTrainingRuntime, "Cluster"),
        (TrainingRuntime, "Namespaced"),
        (TrainJob, "Namespaced"),
    )
    made = (
        definition(
            GROUP,
            kind.__name__,
            scope,
            [_version(kind, VERSION), _version(kind, OLD_VERSION) | _deprecated(kind.__name__)],
        )
        for kind, scope in kinds
    )
    return {f"{GROUP}_{crd['spec']['names']['plural']}.yaml": crd for crd in made}


@cache
def crd_files() -> dict[str, str]:
    """Return the text of each file in manifests/crds by its name."""
    return {name: HEADER + dump(crd) for name, crd in crds().items()}


def definition(group: str, kind: str, scope: str, versions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the CRD of a kind."""
    singular = kind.lower()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{group}"},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": f"{singular}s",
                "singular": singular,
            },
            "scope": scope,
            "versions": versions,
        },
    }


def _version(kind: type[Kind], version: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": version,
        "served": True,
        "storage": version == VERSION,
        "schema": {"openAPIV3Schema": kind_schema(kind)},
    }
    if kind is TrainJob:
        made |= {"additionalPrinterColumns": list(COLUMNS), "subresources": {"status": {}}}
    return made


def _deprecated(kind: str) -> dict[str, Any]:
    warning = f"{OLD_API_VERSION} {kind} is deprecated; use {API_VERSION} {kind}"
    return {"served": False, "deprecated": True, "deprecationWarning": warning}
