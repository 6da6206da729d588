from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml

from kfp_trainer.runtime_operator.api import check
from kfp_trainer.runtime_operator.api.check import UNCHECKED

CASES = Path(__file__).parents[2] / "conformance" / "cases"
KINDS = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")


PATTERNS = ("invalid-*.yaml", "*-pruned.yaml", "update-*-immutable.yaml")
PATHS = [path for pattern in PATTERNS for path in sorted(CASES.glob(pattern))]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_upstreams_schema_says_what_upstream_said(path):
    case = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    expect, stored, errors, unknown = case["expect"], {}, set(), set()
    for document in (one for one in case["input"] if one["kind"] in KINDS):
        owner = f"{document['kind']}/{document['metadata']['name']}"
        checked = check(document, old=stored.get(owner), compat="upstream")
        stored[owner] = checked.stored
        errors |= {(error.object, error.field, error.type, error.detail) for error in checked.errors}
        unknown |= {f"{owner}: {field}" for field in checked.unknown_fields}
    refused = expect["errors"] if expect["outcome"] == "refused by the schema" else []
    assert errors == {(one["object"], one.get("field", ""), one["type"], one["detail"]) for one in refused}
    assert unknown == set(expect.get("unknownFields") or ())


def test_a_good_document_is_stored_with_defaults_and_stays_as_it_was(job):
    document = job()
    del document["metadata"]["namespace"]
    before = copy.deepcopy(document)
    checked = check(document)
    assert (checked.errors, checked.warnings, checked.unknown_fields) == ((), (), ())
    assert checked.stored["metadata"] == {"name": "bert", "namespace": "default"}
    assert checked.stored["spec"]["runtimeRef"]["kind"] == "ClusterTrainingRuntime"
    assert document == before
    assert check(checked.stored).stored == checked.stored


def test_a_cluster_runtime_has_no_namespace(runtime):
    assert "namespace" not in check(runtime()).stored["metadata"]
    assert check(runtime() | {"kind": "TrainingRuntime"}).stored["metadata"]["namespace"] == "default"


REFUSED = {
    "a list": (["x"], "", "must be a mapping with apiVersion and kind, got array"),
    "an unknown kind": ({"kind": "Job"}, "kind", "must be one of TrainJob, TrainingRuntime, Clus"),
    "a kind that is no word": ({"kind": {}}, "kind", "must be one of"),
    "an unknown version": (
        {"kind": "TrainJob", "apiVersion": "kubeflow.org/v1"},
        "apiVersion",
        "must be trainer.kubeflow.org/v1alpha1, got 'kubeflow.org/v1'",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_not_ours_is_refused(sentence):
    document, field, detail = REFUSED[sentence]
    (error,) = check(document).errors
    assert error.field == field
    assert error.detail.startswith(detail)


def test_the_old_version_is_ours_alone(job):
    document = job() | {"apiVersion": "trainer.kubeflow.org/v2alpha1"}
    checked = check(document)
    assert checked.errors == ()
    assert [text.split(":")[0] for text in checked.warnings] == ["DeprecatedVersion"]
    assert [error.field for error in check(document, compat="upstream").errors] == ["apiVersion"]


OLDER = {"podSpecOverrides": [{"targetJobs": [{"name": "node"}]}], "labels": {"a": "b"}}


def test_older_spellings_warn_and_upstream_drops_them(job):
    ours, upstream = check(job(**OLDER)), check(job(**OLDER), compat="upstream")
    assert ours.unknown_fields == ()
    assert [text.split(":")[0] for text in ours.warnings] == ["MetadataInSpec", "OldOverrides"]
    assert upstream.unknown_fields == ("spec.labels", "spec.podSpecOverrides")
    assert upstream.warnings == ()


def test_a_misspelt_field_in_an_older_override_is_found(job):
    override = {"targetJobs": [{"name": "node"}], "containers": [{"name": "node", "volumeMount": []}]}
    assert check(job(podSpecOverrides=[override])).unknown_fields == (
        "spec.podSpecOverrides[0].containers[0].volumeMount",
    )


def test_labels_of_the_controllers_are_refused_in_older_fields(job, runtime):
    document = job(labels={"jobset.sigs.k8s.io/x": "y"}, annotations={"batch.kubernetes.io/z": "", "ok": ""})
    assert {(error.field, error.type) for error in check(document).errors} == {
        ("spec.labels", "FieldValueForbidden"),
        ("spec.annotations", "FieldValueForbidden"),
    }
    assert check(runtime()).errors == ()


def test_rules_are_not_asked_after_a_mistake_that_blocks_them(job):
    checked = check(job(managedBy="me", trainer={"numNodes": "two"}))
    assert [(error.field, error.object) for error in checked.errors] == [
        ("spec.trainer.numNodes", "TrainJob/bert"),
        ("", "TrainJob/bert"),
    ]
    assert checked.errors[-1].detail == UNCHECKED
    assert [error.field for error in check(job(managedBy="me", trainer={"numNodes": 0})).errors] == [
        "spec.trainer.numNodes",
        "spec.managedBy",
    ]


def test_a_name_that_the_server_makes_is_judged_as_it_will_be(job):
    document = job()
    document["metadata"] = {"generateName": "bert-"}
    assert check(document).errors == ()
    document["metadata"] = {"generateName": "9-"}
    assert [error.detail for error in check(document).errors] == [
        "metadata.name must match RFC 1035 DNS label format"
    ]


def test_metadata_is_judged_by_us_and_left_out_in_comparison(job):
    document = job()
    document["metadata"]["labels"] = {"a b": "x"}
    assert [error.field for error in check(document).errors] == ["metadata.labels"]
    assert check(document, compat="upstream").errors == ()
    document["metadata"] = None
    assert {error.field for error in check(document, compat="upstream").errors} == {"metadata", ""}


def test_an_update_is_held_against_what_is_stored(job):
    old = job(trainer={"numNodes": 1})
    assert check(job(trainer={"numNodes": 1}, suspend=True), old=old).errors == ()
    (error,) = check(job(trainer={"numNodes": 2}), old=old).errors
    assert (error.field, error.detail) == ("spec.trainer", "field is immutable")


def test_duplicates_that_are_stored_already_do_not_lock_the_object(job):
    twice = [{"name": "A"}, {"name": "A"}]
    assert check(job(trainer={"env": twice}, suspend=True), old=job(trainer={"env": twice})).errors == ()
    (error,) = check(job(trainer={"env": twice})).errors
    assert error.type == "FieldValueDuplicate"


def test_a_name_that_is_no_string_is_refused_in_either_mode(job):
    document = job()
    document["metadata"]["name"] = 7
    for compat in (None, "upstream"):
        assert check(document, compat=compat).errors[0].detail == "must be a string, got 7: put it in quotes"


def test_a_document_without_a_spec_is_refused(job, runtime):
    for document in (job(), runtime()):
        del document["spec"]
        assert next(error.field for error in check(document).errors) == "spec"
        assert check(document, compat="upstream").errors == ()
