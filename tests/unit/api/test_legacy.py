"""The older kinds: what their documents mean, and what an API server says of them."""

import pytest

from kfp_trainer.runtime_operator.api.legacy import check_legacy, read_legacy, terms, without_rest
from kfp_trainer.runtime_operator.errors import SpecError
from tests.legacy_jobs import legacy_document, legacy_job

PORT = {"name": "pytorch", "image": "i", "ports": [{"name": "mine", "containerPort": 23456}]}


def ports(job, role="Worker"):
    return job.role(role).pod["containers"][0].get("ports")


def test_roles_come_in_the_order_of_the_kind_with_their_defaults():
    job = legacy_job("PyTorchJob", {"Worker": {"replicas": None}, "Master": {"restartPolicy": "Never"}})
    assert [(role.name, role.replicas, role.restart_policy) for role in job.roles] == [
        ("Master", 1, "Never"),
        ("Worker", 1, "OnFailure"),
    ]
    assert ports(job) == [{"name": "pytorchjob-port", "containerPort": 23456}]


DEFAULTS = {
    "workers of MPI that are left out are none": (
        legacy_job("MPIJob", {"Launcher": {}, "Worker": {"replicas": None}}).role("Worker").replicas,
        0,
    ),
    "keys in other case are folded": (
        [role.name for role in legacy_job("TFJob", {"WORKER": {}, "ps": {}}).roles],
        ["PS", "Worker"],
    ),
    "keys of MPI are not": (
        [role.name for role in legacy_job("MPIJob", {"LAUNCHER": {}}).roles],
        ["LAUNCHER"],
    ),
    "a port of that number under another name is the port": (
        ports(legacy_job("PyTorchJob", {"Worker": {"pod": {"containers": [PORT]}}})),
        PORT["ports"],
    ),
    "the older cleanPodPolicy of MPI counts": (
        legacy_job("MPIJob", {"Launcher": {}}, cleanPodPolicy="All").policy.clean,
        "All",
    ),
    "that of runPolicy counts more": (
        legacy_job(
            "MPIJob", {"Launcher": {}}, cleanPodPolicy="All", runPolicy={"cleanPodPolicy": "Running"}
        ).policy.clean,
        "Running",
    ),
    "nothing is cleaned up unless somebody says so": (
        legacy_job("JAXJob", {"Worker": {}}).policy.clean,
        "None",
    ),
}


@pytest.mark.parametrize(("found", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults(found, expected):
    assert found == expected


def test_a_document_of_another_version_is_refused_in_one_sentence():
    document = {**legacy_document("MPIJob", {"Launcher": {}}), "apiVersion": "kubeflow.org/v1alpha2"}
    (error,) = check_legacy(document).errors
    assert str(error) == (
        "apiVersion: must be kubeflow.org/v1 or kubeflow.org/v2beta1, got 'kubeflow.org/v1alpha2'"
    )
    with pytest.raises(SpecError, match="apiVersion: must be"):
        read_legacy(document)


CHECKED = {
    "a good job": (legacy_document("TFJob", {"Worker": {}}), ()),
    "no roles at all": (
        {**legacy_document("TFJob", {}), "spec": {}},
        ("spec.tfReplicaSpecs", ""),
    ),
    "a role that cannot be read": (
        {**legacy_document("TFJob", {}), "spec": {"tfReplicaSpecs": {"Worker": {"replicas": "two"}}}},
        ("spec.tfReplicaSpecs.Worker.replicas", ""),
    ),
    "fewer workers than none": (
        legacy_document("JAXJob", {"Worker": {"replicas": -1}}),
        (".spec.jaxReplicaSpecs.Worker.replicas",),
    ),
    "the same variable twice in one role": (
        legacy_document(
            "TFJob",
            {
                "Worker": {
                    "pod": {"containers": [{"name": "tensorflow", "env": [{"name": "A"}, {"name": "A"}]}]}
                }
            },
        ),
        ("spec.tfReplicaSpecs[Worker].template.spec.containers[0].env[1]",),
    ),
}


@pytest.mark.parametrize(("document", "fields"), CHECKED.values(), ids=CHECKED)
def test_check(document, fields):
    assert tuple(error.field for error in check_legacy(document).errors) == fields


def test_unknown_fields_are_dropped_and_told_and_a_queue_is_fixed():
    document = legacy_document(
        "TFJob", {"Worker": {}}, color="red", runPolicy={"schedulingPolicy": {"queue": "a"}}
    )
    checked = check_legacy(document)
    assert checked.unknown_fields == ("spec.color",)
    changed = legacy_document("TFJob", {"Worker": {}}, runPolicy={"schedulingPolicy": {"queue": "b"}})
    (error,) = check_legacy(changed, old=document).errors
    assert error.detail == "spec.runPolicy.schedulingPolicy.queue is immutable"


def test_terms_stand_where_the_kind_has_them():
    older = legacy_document("TFJob", {"Worker": {}}, runPolicy={"suspend": True})
    newer = {"kind": "TrainJob", "spec": {"suspend": True, "runtimeRef": {}}}
    assert terms(older)["suspend"] and terms(newer)["suspend"]
    assert (without_rest(older)["runPolicy"]["suspend"], without_rest(newer)["suspend"]) == (None, None)
