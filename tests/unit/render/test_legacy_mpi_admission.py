"""What is said about an MPIJob of v2beta1, in the MPI Operator's words."""

import pytest

from kfp_trainer.runtime_operator.api.legacy import check_legacy
from kfp_trainer.runtime_operator.render.legacy import admit_legacy
from tests.legacy_jobs import legacy_document

WORKER = {"replicas": 2}


def verdict(roles=None, *, old=None, version="v2beta1", name="job", **spec):
    roles = {"Launcher": {}, "Worker": WORKER} if roles is None else roles
    checked = check_legacy(legacy_document("MPIJob", roles, version=version, name=name, **spec))
    assert not checked.errors
    return admit_legacy(checked.stored, old)


def errors(*args, **spec):
    return [str(each) for each in verdict(*args, **spec).errors]


ROLES = "spec.mpiReplicaSpecs"
REFUSED = {
    "no launcher": ({"Worker": WORKER}, {}, f"{ROLES}[Launcher]: must have Launcher replica spec"),
    "two launchers": ({"Launcher": {"replicas": 2}}, {}, f"{ROLES}[Launcher].replicas: must be 1"),
    "workers that are none": (
        {"Launcher": {}, "Worker": {"replicas": 0}},
        {},
        f"{ROLES}[Worker].replicas: must be greater than or equal to 1",
    ),
    "workers without a number": (
        {"Launcher": {}, "Worker": {"replicas": None}},
        {},
        f"{ROLES}[Worker].replicas: must be greater than or equal to 1",
    ),
    "another role": (
        {"Launcher": {}, "Helper": {}},
        {},
        f'{ROLES}[Helper]: supported values: "Launcher", "Worker"',
    ),
    "no containers": (
        {"Launcher": {"pod": {"containers": []}}},
        {},
        f"{ROLES}[Launcher].template.spec.containers: must define at least one container",
    ),
    "a container without an image": (
        {"Launcher": {"pod": {"containers": [{"name": "a"}]}}},
        {},
        f"{ROLES}[Launcher].template.spec.containers[0].image: must be required",
    ),
    "a restart policy of v1": (
        {"Launcher": {"restartPolicy": "ExitCode"}},
        {},
        f'{ROLES}[Launcher].restartPolicy: supported values: "Never", "OnFailure"',
    ),
    "fewer slots than none": (
        None,
        {"slotsPerWorker": -1},
        "spec.slotsPerWorker: must be greater than or equal to 0",
    ),
    "a deadline before the start": (
        None,
        {"runPolicy": {"activeDeadlineSeconds": -1}},
        "spec.runPolicy.activeDeadlineSeconds: must be greater than or equal to 0",
    ),
    "a clean-up that nobody knows": (
        None,
        {"runPolicy": {"cleanPodPolicy": "Some"}},
        'spec.runPolicy.cleanPodPolicy: supported values: "All", "None", "Running"',
    ),
    "the manager of v1": (
        None,
        {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}},
        "spec.runPolicy.managedBy: supported values: "
        '"kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"',
    ),
}


@pytest.mark.parametrize(("roles", "spec", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(roles, spec, sentence):
    assert errors(roles, **spec) == [sentence]


def test_a_name_that_leaves_no_room_for_a_worker_is_refused():
    (error,) = errors(name="a" * 56)
    assert error.startswith("metadata.name: will not able to create pod and service with invalid DNS label")


ADMITTED = {
    "a launcher alone": {"Launcher": {}},
    "a launcher that is never tried again": {"Launcher": {"restartPolicy": "Never"}, "Worker": WORKER},
}


@pytest.mark.parametrize("roles", ADMITTED.values(), ids=ADMITTED)
def test_admitted(roles):
    assert errors(roles) == []


def test_who_runs_a_job_is_never_changed():
    old = legacy_document("MPIJob", {"Launcher": {}}, version="v2beta1")
    assert errors(old=old, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"}) == [
        "spec.runPolicy.managedBy: field is immutable"
    ]
