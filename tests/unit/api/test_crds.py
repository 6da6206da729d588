from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

import kfp_trainer.manifests
from kfp_trainer.runtime_operator.api import crd_files, crds
from kfp_trainer.runtime_operator.api.kube import kube_schema

ANNOTATION = 256 * 1024
"""`kubectl apply` keeps the whole object in an annotation, and this is all that annotations may hold."""
ROOT = Path(__file__).parents[3]
NAMES = sorted(crds())


def test_there_is_one_crd_a_kind_under_upstreams_name():
    assert {name: crd["metadata"]["name"] for name, crd in crds().items()} == {
        f"trainer.kubeflow.org_{plural}.yaml": f"{plural}.trainer.kubeflow.org"
        for plural in ("clustertrainingruntimes", "trainingruntimes", "trainjobs")
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_file_is_what_the_models_say_now(name):
    shipped = files(kfp_trainer.manifests).joinpath("crds", name).read_text(encoding="utf-8")
    assert shipped == crd_files()[name], "stale: write the files anew as manifests/crds/README.md tells"
    assert yaml.load(shipped, Loader=yaml.CSafeLoader) == crds()[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_kubectl_apply_can_carry_it(name):
    assert len(json.dumps(crds()[name], separators=(",", ":"))) < ANNOTATION
    assert len(crd_files()[name].encode()) < ANNOTATION


@pytest.mark.parametrize("name", NAMES)
def test_one_version_is_served_and_the_old_one_where_somebody_says_so(name):
    crd = crds()[name]
    stored, old = crd["spec"]["versions"]
    kind = crd["spec"]["names"]["kind"]
    assert (stored["name"], stored["served"], stored["storage"]) == ("v1alpha1", True, True)
    assert (old["name"], old["served"], old["storage"], old["deprecated"]) == ("v2alpha1", False, False, True)
    assert old["deprecationWarning"].endswith(
        f"{kind} is deprecated; use trainer.kubeflow.org/v1alpha1 {kind}"
    )
    assert old["schema"] == stored["schema"]
    assert "conversion" not in crd["spec"]


def test_columns_and_status_are_upstreams():
    trainjobs = crds()["trainer.kubeflow.org_trainjobs.yaml"]["spec"]
    for version in trainjobs["versions"]:
        assert version["subresources"] == {"status": {}}
        assert [(column["name"], column["jsonPath"]) for column in version["additionalPrinterColumns"]] == [
            ("State", ".status.conditions[-1:].type"),
            ("Age", ".metadata.creationTimestamp"),
        ]
    runtimes = crds()["trainer.kubeflow.org_trainingruntimes.yaml"]["spec"]
    assert "subresources" not in runtimes["versions"][0]
    assert runtimes["scope"] == "Namespaced"
    assert crds()["trainer.kubeflow.org_clustertrainingruntimes.yaml"]["spec"]["scope"] == "Cluster"


def _structural_faults(schema, path):
    """What an API server would refuse in a structural schema: a place without a type, or with two."""
    if "type" not in schema and "x-kubernetes-int-or-string" not in schema:
        yield path
    if "properties" in schema and "additionalProperties" in schema:
        yield path
    if schema.get("type") == "array" and "items" not in schema:
        yield path
    for name, below in schema.get("properties", {}).items():
        yield from _structural_faults(below, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from _structural_faults(schema[name], f"{path}.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_structural(name):
    root = crds()[name]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(_structural_faults(root, "")) == []
    assert set(root["properties"]["metadata"]) == {"type"}


SCRIPT = ROOT / "manifests" / "crds" / "make_kube_schema.py"


def test_the_script_drops_descriptions_and_keeps_a_property_of_that_name(tmp_path):
    part = {
        "type": "object",
        "description": "long",
        "properties": {"description": {"type": "string", "description": "x"}},
        "anyOf": [{"description": "y", "type": "integer"}],
    }
    want = {
        "type": "object",
        "properties": {"description": {"type": "string"}},
        "anyOf": [{"type": "integer"}],
    }
    conditions = {"type": "array", "items": part}
    root = {"spec": part, "status": {"type": "object", "properties": {"conditions": conditions}}}
    crd = tmp_path / "crd.yaml"
    version = {"schema": {"openAPIV3Schema": {"type": "object", "properties": root}}}
    crd.write_text(yaml.safe_dump({"spec": {"versions": [version]}}), encoding="utf-8")
    out = tmp_path / "data.json"
    command = [sys.executable, str(SCRIPT), str(crd), str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert json.loads(out.read_text(encoding="utf-8")) == {"Condition": want, "JobSetSpec": want}


def test_the_data_is_that_of_the_jobset_release_the_script_names():
    spec = kube_schema("JobSetSpec")
    assert "BlockingRecreate" in spec["properties"]["failurePolicy"]["properties"]["restartStrategy"]["enum"]
    assert "jobset@v0.12.0" in SCRIPT.read_text(encoding="utf-8")
