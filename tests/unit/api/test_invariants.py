from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.invariants import invariants
from kfp_trainer.runtime_operator.api.node import kind_node

IMMUTABLE = "field is immutable"


def _patch(manager="a.io/b", **pod):
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    return {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}


POD = "trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template.spec"
UPDATES = {
    "the runtime": ({}, {"runtimeRef": {"name": "other"}}, {("spec.runtimeRef", IMMUTABLE)}),
    "another number of nodes": (
        {"trainer": {"numNodes": 1}},
        {"trainer": {"numNodes": 2}},
        {("spec.trainer", IMMUTABLE)},
    ),
    "a trainer that comes later": ({}, {"trainer": {}}, {("spec.trainer", IMMUTABLE)}),
    "a deadline that goes": ({"activeDeadlineSeconds": 5}, {}, {("spec.activeDeadlineSeconds", IMMUTABLE)}),
    "a start deadline that changes": (
        {"startDeadlineSeconds": 5},
        {"startDeadlineSeconds": 6},
        {("spec.startDeadlineSeconds", IMMUTABLE)},
    ),
    "time to live may change": ({"ttlSecondsAfterFinished": 5}, {"ttlSecondsAfterFinished": 6}, set()),
    "suspension may change": ({"suspend": True}, {"suspend": False}, set()),
    "volumes of a patch, found by its manager": (
        {"runtimePatches": [_patch(volumes=[{"name": "a"}])]},
        {"runtimePatches": [_patch("new.io/x"), _patch(volumes=[{"name": "b"}])]},
        {(f"spec.runtimePatches[1].{POD}.volumes", IMMUTABLE)},
    ),
    "tolerations of a patch may change": (
        {"runtimePatches": [_patch(tolerations=[{"key": "a"}])]},
        {"runtimePatches": [_patch(tolerations=[])]},
        set(),
    ),
    "an old list that is none is no list": ({"runtimePatches": "x"}, {"runtimePatches": [_patch()]}, set()),
    "an old spec that is none is no spec": (None, {}, set()),
}


@pytest.mark.parametrize("sentence", UPDATES)
def test_an_update_of_a_job(job, sentence):
    before, after, want = UPDATES[sentence]
    old = job() | {"spec": None} if before is None else job(**before)
    found = invariants(kind_node(TrainJob), job(**after), old)
    assert {(error.field, error.detail) for error in found} == want


def test_upstream_lets_optional_fields_come_and_go(job):
    node = kind_node(TrainJob, compat="upstream")
    assert list(invariants(node, job(trainer={}), job())) == []
    assert list(invariants(node, job(), job(trainer={}))) == []


def test_a_rule_without_history_is_not_asked_again_about_what_stays(job):
    node = kind_node(TrainJob)
    old = job(managedBy="somebody", trainer={"numProcPerNode": 0})
    new = job(managedBy="somebody", trainer={"numProcPerNode": 0}, suspend=True)
    assert list(invariants(node, new, old)) == []
    assert {error.field for error in invariants(node, new)} == {
        "spec.managedBy",
        "spec.trainer.numProcPerNode",
    }


def test_a_rule_over_the_whole_object_has_no_path_and_a_missing_key_is_said(job):
    document = job()
    document["metadata"]["name"] = "9lives"
    assert [(error.field, error.detail) for error in invariants(kind_node(TrainJob), document)] == [
        ("", "metadata.name must match RFC 1035 DNS label format")
    ]
    document["metadata"] = {}
    assert [error.detail for error in invariants(kind_node(TrainJob), document)] == [
        "no such key: name evaluating rule: metadata.name must match RFC 1035 DNS label format",
        "no such key: name evaluating rule: metadata.name must be no more than 63 characters",
    ]


POLICIES = {
    "two frameworks": (
        {"torch": {}, "mpi": {}},
        {("spec.mlPolicy", "Only one of the policy can be configured")},
    ),
    "a number of nodes beside an elastic policy": (
        {"numNodes": 2, "torch": {"elasticPolicy": {}}},
        {("spec.mlPolicy", "numNodes should not be set if torch.elasticPolicy is configured")},
    ),
    "elastic bounds the wrong way round": (
        {"torch": {"elasticPolicy": {"minNodes": 3, "maxNodes": 2}}},
        {
            (
                "spec.mlPolicy.torch.elasticPolicy",
                "minNodes is greater than maxNodes: lower minNodes or raise maxNodes",
            )
        },
    ),
    "half a process": (
        {"torch": {"numProcPerNode": 0}},
        {
            (
                "spec.mlPolicy.torch.numProcPerNode",
                "NumProcPerNode must be equal to auto, cpu, gpu, or int value",
            )
        },
    ),
    "no slots": (
        {"mpi": {"numProcPerNode": 0}},
        {("spec.mlPolicy.mpi.numProcPerNode", "NumProcPerNode in mpiPolicy must be >= 1")},
    ),
}


@pytest.mark.parametrize("sentence", POLICIES)
def test_a_policy_of_a_runtime(runtime, sentence):
    policy, want = POLICIES[sentence]
    found = invariants(kind_node(TrainingRuntime), runtime(mlPolicy=policy))
    assert {(error.field, error.detail) for error in found} == want


def test_two_gangs_are_one_too_many(runtime):
    document = runtime(podGroupPolicy={"volcano": {}, "coscheduling": {}})
    (error,) = invariants(kind_node(TrainingRuntime), document)
    assert error.field == "spec.podGroupPolicy"
    assert list(invariants(kind_node(TrainingRuntime, compat="upstream"), document)) == []


def test_what_the_schema_does_not_know_is_passed_over(job):
    assert list(invariants(kind_node(TrainJob), job(typo={"managedBy": "x"}))) == []
