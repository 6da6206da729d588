from __future__ import annotations

import copy

import pytest

from kfp_trainer.runtime_operator.api import ClusterTrainingRuntime, TrainingRuntime, TrainJob, read
from kfp_trainer.runtime_operator.errors import SpecError


def test_a_job_is_read_with_defaults_and_its_original_beside_it(job):
    document = job(trainer={"numNodes": 2, "env": [{"name": "A", "valueFrom": {"unheard": 1}}]})
    before = copy.deepcopy(document)
    parsed = read(document)
    assert isinstance(parsed, TrainJob)
    assert parsed.spec.trainer.numNodes == 2
    assert parsed.spec.trainer.env == [{"name": "A", "valueFrom": {"unheard": 1}}]
    assert (parsed.spec.runtimeRef.kind, parsed.spec.suspend) == ("ClusterTrainingRuntime", False)
    assert parsed.spec.managedBy == "trainer.kubeflow.org/trainjob-controller"
    assert parsed.raw is document
    assert document == before
    assert parsed.warnings == ()


def test_what_belongs_to_kubernetes_is_shared_not_copied(runtime):
    document = runtime()
    parsed = read(document)
    assert isinstance(parsed, ClusterTrainingRuntime)
    jobs = document["spec"]["template"]["spec"]["replicatedJobs"]
    assert parsed.spec.template.spec["replicatedJobs"] is jobs


def test_metadata_has_short_names(job):
    document = job()
    document["metadata"] = {"name": "a", "uid": "u", "labels": {"l": "1"}, "annotations": {"n": "2"}}
    parsed = read(document)
    assert (parsed.name, parsed.namespace, parsed.uid) == ("a", "default", "u")
    assert (parsed.labels, parsed.annotations) == ({"l": "1"}, {"n": "2"})
    bare = read({**document, "metadata": {}})
    assert (bare.name, bare.uid, bare.labels, bare.annotations) == ("", "", {}, {})


def test_a_parsed_document_cannot_change(job):
    with pytest.raises(ValueError, match="frozen"):
        read(job()).spec.suspend = True


def test_older_spellings_become_todays_fields_unless_upstream_is_meant(job):
    document = job(labels={"team": "a"})
    today, upstream = read(document), read(document, compat="upstream")
    assert today.spec.labels is None
    assert today.spec.runtimePatches[0].manager == "trainer.kubeflow.org/older-spellings"
    assert today.warnings[0].startswith("MetadataInSpec: spec.labels: ")
    assert today.raw is document
    assert (upstream.spec.runtimePatches, upstream.warnings) == ((), ())


def test_a_namespaced_runtime_has_a_policy_of_its_own(runtime):
    document = runtime(mlPolicy={"mpi": {}, "numNodes": 3}, podGroupPolicy={"volcano": {}, "minNodes": 2})
    parsed = read({**document, "kind": "TrainingRuntime"})
    assert isinstance(parsed, TrainingRuntime)
    assert parsed.spec.mlPolicy.mpi.mpiImplementation == "OpenMPI"
    assert parsed.spec.podGroupPolicy.minNodes == 2


REFUSED = {
    "a kind that is not ours": ({"kind": "Deployment"}, "kind", "must be one of TrainJob"),
    "a kind that is no word": ({"kind": ["TrainJob"]}, "kind", "must be one of TrainJob"),
    "no spec at all": ({"kind": "TrainJob", "metadata": {}}, "spec", "field required"),
    "metadata that is a list": (
        {"kind": "TrainJob", "metadata": [], "spec": {}},
        "metadata",
        "input should be",
    ),
    "a field deep inside": (
        {
            "kind": "TrainJob",
            "metadata": {"name": "x"},
            "spec": {"runtimeRef": {"name": "r"}, "runtimePatches": [{"manager": {}}]},
        },
        "spec.runtimePatches[0].manager",
        "input should be a valid string",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_shape_nobody_can_read_is_refused_with_its_path(sentence):
    document, field, detail = REFUSED[sentence]
    with pytest.raises(SpecError) as refused:
        read(document)
    found = [error for error in refused.value.errors if error.field == field]
    assert found, refused.value.errors
    assert found[0].detail.startswith(detail)
