"""The CRDs of the older kinds, made from their table: one file a kind, small enough for `kubectl apply`.

Names, columns and subresources are v1's, and the schemas refuse nothing that v1's accept, so these take the
place of those that the Training Operator installed, and what is stored stays valid.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..compact_yaml import dump
from ..crds import COLUMNS, definition
from .kinds import LEGACY_KINDS, LegacyKind
from .names import API_VERSION, GROUP
from .schema import crd_schema
from .versions import versions_of

HEADER = "# Made from runtime_operator/api by `kfp-trainer crds kubeflow.org`: change those, not this.\n"


def legacy_crds() -> dict[str, dict[str, Any]]:
    """Return the CRDs of all older kinds by the name of their file."""
    return {f"{GROUP}_{kind.plural}.yaml": _crd(kind) for kind in LEGACY_KINDS.values()}


@cache
def legacy_crd_files() -> dict[str, str]:
    """Return the text of each file in manifests/older_kinds/crds by its name."""
    return {name: HEADER + dump(crd) for name, crd in legacy_crds().items()}


def _crd(kind: LegacyKind) -> dict[str, Any]:
    versions = [_version(kind, each) for each in versions_of(kind.name)]
    return definition(GROUP, kind.name, "Namespaced", versions)


def _version(kind: LegacyKind, api_version: str) -> dict[str, Any]:
    state, age = COLUMNS
    return {
        "name": api_version.partition("/")[2],
        "served": True,
        "storage": api_version == API_VERSION,
        "schema": {"openAPIV3Schema": crd_schema(kind)},
        "additionalPrinterColumns": [age, state] if kind.name == "MPIJob" else [state, age],
        "subresources": {"status": {}, **_scale(kind)},
    }


def _scale(kind: LegacyKind) -> dict[str, Any]:
    """What `kubectl scale` and autoscalers read and write, where workers may be more or fewer."""
    if not kind.scales:
        return {}
    workers = ".status.replicaStatuses.Worker"
    paths = {
        "labelSelectorPath": f"{workers}.selector",
        "specReplicasPath": f".spec.{kind.field}.Worker.replicas",
        "statusReplicasPath": f"{workers}.active",
    }
    return {"scale": paths}
