"""The CRDs of the older kinds: as v1 had them where people and programs look."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
import yaml

import kfp_trainer.manifests
from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS, legacy_crd_files, legacy_crds

ANNOTATION = 256 * 1024
"""`kubectl apply` keeps the whole object in an annotation, and this is all that annotations may hold."""
NAMES = sorted(legacy_crds())
SCALE = {"PyTorchJob": "pytorch", "PaddleJob": "paddle", "JAXJob": "jax"}


def versions(kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = legacy_crds()[f"kubeflow.org_{kind.lower()}s.yaml"]["spec"]["versions"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_file_is_what_the_table_says_now(name: str) -> None:
    folder = files(kfp_trainer.manifests).joinpath("older_kinds", "crds")
    shipped = folder.joinpath(name).read_text(encoding="utf-8")
    assert shipped == legacy_crd_files()[name], "stale: write it anew as manifests/crds/README.md tells"
    assert yaml.load(shipped, Loader=yaml.CSafeLoader) == legacy_crds()[name]
    listed = yaml.safe_load(folder.joinpath("kustomization.yaml").read_text(encoding="utf-8"))
    assert sorted(listed["resources"]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_kubectl_apply_can_carry_it(name: str) -> None:
    assert len(json.dumps(legacy_crds()[name], separators=(",", ":"))) < ANNOTATION


@pytest.mark.parametrize("kind", LEGACY_KINDS)
def test_v1_is_stored_and_nothing_is_converted(kind: str) -> None:
    crd = legacy_crds()[f"kubeflow.org_{kind.lower()}s.yaml"]
    stored, *others = crd["spec"]["versions"]
    assert (stored["name"], stored["served"], stored["storage"]) == ("v1", True, True)
    assert not any(each["storage"] for each in others)
    assert "conversion" not in crd["spec"]
    assert crd["spec"]["names"].keys() == {"kind", "listKind", "plural", "singular"}


@pytest.mark.parametrize("kind", LEGACY_KINDS)
def test_columns_are_v1s(kind: str) -> None:
    columns = [each["name"] for each in versions(kind)[0]["additionalPrinterColumns"]]
    assert columns == (["Age", "State"] if kind == "MPIJob" else ["State", "Age"])


@pytest.mark.parametrize("kind", LEGACY_KINDS)
def test_workers_are_scaled_where_v1_lets_them(kind: str) -> None:
    subresources = versions(kind)[0]["subresources"]
    assert subresources["status"] == {}
    if kind not in SCALE:
        assert "scale" not in subresources
        return
    assert subresources["scale"] == {
        "labelSelectorPath": ".status.replicaStatuses.Worker.selector",
        "specReplicasPath": f".spec.{SCALE[kind]}ReplicaSpecs.Worker.replicas",
        "statusReplicasPath": ".status.replicaStatuses.Worker.active",
    }
