"""The models of the official Python package read every document we accept, and whatever we add to one."""

from __future__ import annotations

from pathlib import Path

import kubeflow_trainer_api.models as sdk
import pytest
import yaml

from kfp_trainer.runtime_operator.api import check

CASES = Path(__file__).parents[2] / "conformance" / "cases"
MODELS = {
    "TrainJob": sdk.TrainerV1alpha1TrainJob,
    "TrainingRuntime": sdk.TrainerV1alpha1TrainingRuntime,
    "ClusterTrainingRuntime": sdk.TrainerV1alpha1ClusterTrainingRuntime,
}
PATHS = sorted(CASES.glob("*.yaml"))[::3]


def test_every_accepted_document_is_read():
    count = 0
    for path in PATHS:
        case = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        for document in (one for one in case["input"] if one["kind"] in MODELS):
            checked = check(document)
            if not checked.errors:
                assert MODELS[document["kind"]].from_dict(checked.stored).metadata.name
                count += 1
    assert count > 100


TIME = "2026-01-01T00:00:00Z"
OURS = {
    "deadlines and time to live": {"startDeadlineSeconds": 5, "ttlSecondsAfterFinished": 0},
    "overrides of 2.0": {
        "podSpecOverrides": [{"targetJobs": [{"name": "node"}], "nodeSelector": {"a": "b"}}]
    },
    "overrides of 2.1": {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": {}}]},
    "labels and annotations": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
}


@pytest.mark.parametrize("sentence", OURS)
def test_a_job_with_fields_of_ours_is_read(job, sentence):
    checked = check(job(**OURS[sentence]))
    assert checked.errors == ()
    assert sdk.TrainerV1alpha1TrainJob.from_dict(checked.stored).spec.runtime_ref.name == "torch"


def test_a_status_with_fields_of_ours_keeps_its_conditions(job):
    condition = {
        "type": "Complete",
        "status": "True",
        "reason": "Done",
        "message": "",
        "lastTransitionTime": TIME,
    }
    status = {
        "conditions": [condition],
        "startTime": TIME,
        "completionTime": TIME,
        "why": "two pods wait for a GPU",
    }
    checked = check(job() | {"status": status})
    assert checked.errors == ()
    read = sdk.TrainerV1alpha1TrainJob.from_dict(checked.stored)
    assert [one.type for one in read.status.conditions] == ["Complete"]


POLICIES = {
    "another MPI": {"mpi": {"mpiImplementation": "MPICH"}},
    "processes in the runtime": {"torch": {"numProcPerNode": "auto"}},
    "elastic": {
        "torch": {"elasticPolicy": {"minNodes": 1, "maxNodes": 2, "metrics": [{"type": "Resource"}]}}
    },
}


@pytest.mark.parametrize("sentence", POLICIES)
def test_a_runtime_with_fields_of_ours_is_read(runtime, sentence):
    checked = check(runtime(mlPolicy=POLICIES[sentence], podGroupPolicy={"volcano": {}, "minNodes": 1}))
    assert checked.errors == ()
    assert sdk.TrainerV1alpha1ClusterTrainingRuntime.from_dict(checked.stored).spec.ml_policy is not None
