from __future__ import annotations

import copy

import pytest

from kfp_trainer.runtime_operator.api import modernise

OLDER = "trainer.kubeflow.org/older-spellings"
QUEUE = "scheduling.volcano.sh/queue-name"


def _metadata(**metadata):
    return {"manager": OLDER, "trainingRuntimeSpec": {"template": {"metadata": metadata}}}


def _job_patch(number, *targets, template):
    jobs = [{"name": name, "template": {"spec": {"template": template}}} for name in targets]
    return {
        "manager": f"{OLDER}-{number}",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }


TODAY = {"manager": "acme.io/x"}
JOBS = {
    "nothing older: the very document": ({"suspend": True}, None, []),
    "labels and annotations of the spec go to the JobSet": (
        {"labels": {"a": "1"}, "annotations": {"b": "2"}},
        [_metadata(labels={"a": "1"}, annotations={"b": "2"})],
        ["MetadataInSpec: spec.labels", "MetadataInSpec: spec.annotations"],
    ),
    "empty labels leave nothing behind": ({"labels": {}}, None, ["MetadataInSpec: spec.labels"]),
    "an override of 2.0 patches each of its jobs": (
        {"podSpecOverrides": [{"targetJobs": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"x": "y"}}]},
        [_job_patch(0, "a", "b", template={"spec": {"nodeSelector": {"x": "y"}}})],
        ["OldOverrides: spec.podSpecOverrides"],
    ),
    "an override of 2.1 has metadata too": (
        {
            "podTemplateOverrides": [
                {"targetJobs": [{"name": "a"}], "metadata": {"labels": {"l": "1"}}, "spec": {"volumes": []}}
            ]
        },
        [_job_patch(0, "a", template={"metadata": {"labels": {"l": "1"}}, "spec": {"volumes": []}})],
        ["OldOverrides: spec.podTemplateOverrides"],
    ),
    "two overrides of one job stay two patches, and patches of today come last": (
        {
            "podSpecOverrides": [{"targetJobs": [{"name": "a"}]}],
            "podTemplateOverrides": [{"targetJobs": [{"name": "a"}], "spec": {}}],
            "runtimePatches": [TODAY],
        },
        [_job_patch(0, "a", template={"spec": {}}), _job_patch(1, "a", template={"spec": {}}), TODAY],
        ["OldOverrides: spec.podSpecOverrides", "OldOverrides: spec.podTemplateOverrides"],
    ),
    "shapes nobody can read are left to the schema": (
        {"labels": ["a"], "podSpecOverrides": ["x"], "podTemplateOverrides": "y"},
        [_job_patch(0, template={"spec": {}})],
        ["MetadataInSpec: spec.labels", "OldOverrides: spec.podSpec", "OldOverrides: spec.podTemplate"],
    ),
}


@pytest.mark.parametrize("sentence", JOBS)
def test_older_fields_of_a_job_become_runtime_patches(job, sentence):
    spec, patches, warnings = JOBS[sentence]
    document = job(**spec)
    before = copy.deepcopy(document)
    today, said = modernise(document)
    assert document == before
    assert today["spec"].get("runtimePatches") == patches
    assert len(said) == len(warnings)
    assert all(text.startswith(start) for text, start in zip(said, warnings, strict=True))
    assert not {"labels", "annotations", "podSpecOverrides", "podTemplateOverrides"} & set(today["spec"])
    assert modernise(today) == (today, ())


def test_a_document_of_today_is_not_even_copied(job, runtime):
    for document in (job(), runtime()):
        assert modernise(document)[0] is document


def test_the_queue_of_a_job_may_stand_in_its_own_annotations(job):
    document = job(annotations={"b": "2"})
    document["metadata"]["annotations"] = {QUEUE: "fast", "other": "x"}
    assert modernise(document)[0]["spec"]["runtimePatches"] == [
        _metadata(annotations={QUEUE: "fast", "b": "2"})
    ]
    document["spec"]["annotations"] = {QUEUE: "urgent"}
    assert modernise(document)[0]["spec"]["runtimePatches"] == [_metadata(annotations={QUEUE: "urgent"})]


def test_the_version_that_was_never_released_is_read_as_todays(job):
    today, said = modernise(job() | {"apiVersion": "trainer.kubeflow.org/v2alpha1"})
    assert today == job()
    assert said == (
        "DeprecatedVersion: apiVersion: trainer.kubeflow.org/v2alpha1 TrainJob is deprecated; "
        "use trainer.kubeflow.org/v1alpha1 TrainJob",
    )


RUNTIMES = {
    "processes of the runtime": ({"numProcPerNode": "gpu"}, ["ProcessesInRuntime: spec.mlPolicy.torch"]),
    "an elastic job": (
        {"elasticPolicy": {"minNodes": 5, "maxNodes": 10}},
        ["ElasticPolicy: spec.mlPolicy.torch.elasticPolicy: 5 to 10 nodes"],
    ),
    "an elastic job without bounds, and processes": (
        {"numProcPerNode": 2, "elasticPolicy": None},
        [
            "ProcessesInRuntime: ",
            "ElasticPolicy: spec.mlPolicy.torch.elasticPolicy: 1 to any number of nodes",
        ],
    ),
}


@pytest.mark.parametrize("sentence", RUNTIMES)
def test_older_fields_of_a_runtime_are_kept_and_said(runtime, sentence):
    torch, warnings = RUNTIMES[sentence]
    document = runtime(mlPolicy={"torch": torch})
    today, said = modernise(document)
    assert today is document
    assert [text.startswith(start) for text, start in zip(said, warnings, strict=True)] == [True] * len(
        warnings
    )
