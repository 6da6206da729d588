"""What is refused of the older kinds, in v1's words and, where v1 admits what cannot run, in ours."""

import pytest

from kfp_trainer.runtime_operator.render.legacy import admit_legacy
from tests.legacy_jobs import legacy_document as document

TWO = {"Master": {}, "Worker": {}}
REFUSED = {
    "a role that the kind does not have": (
        document("TFJob", {"Worker": {}, "Boss": {}}),
        'spec.tfReplicaSpecs[Boss]: supported values: "Chief", "Master", "PS", "Worker", "Evaluator"',
    ),
    "no role": (
        document("PaddleJob", {}),
        "spec.paddleReplicaSpecs: needs at least one role, or nothing would run",
    ),
    "a restart policy that nobody knows": (
        document("TFJob", {"Worker": {"restartPolicy": "Sometimes"}}),
        "spec.tfReplicaSpecs[Worker].restartPolicy: supported values: "
        '"Always", "ExitCode", "Never", "OnFailure"',
    ),
    "a clean-up policy that nobody knows": (
        document("JAXJob", {"Worker": {}}, runPolicy={"cleanPodPolicy": "Some"}),
        'spec.runPolicy.cleanPodPolicy: supported values: "All", "None", "Running"',
    ),
    "a success policy that nobody knows": (
        document("TFJob", {"Worker": {}}, successPolicy="Most"),
        'spec.successPolicy: supported values: "", "AllWorkers"',
    ),
    "a number of processes that is no number": (
        document("PyTorchJob", {"Master": {}}, nprocPerNode="many"),
        "spec.nprocPerNode: must be auto, cpu, gpu or a number of processes from 1 on",
    ),
    "an MPIJob without a launcher": (
        document("MPIJob", {"Worker": {}}),
        "spec.mpiReplicaSpecs[Launcher]: must be present: it starts the program on the workers",
    ),
    "fewer replicas than none": (
        document("TFJob", {"Worker": {"replicas": -1}}),
        "spec.tfReplicaSpecs[Worker].replicas: must not be negative; 0 means no replicas",
    ),
    "a JAXJob that a stranger manages": (
        document("JAXJob", {"Worker": {}}, runPolicy={"managedBy": "someone.example/else"}),
        'spec.runPolicy.managedBy: supported values: "kubeflow.org/training-operator", '
        '"kueue.x-k8s.io/multikueue"',
    ),
    "two masters": (
        document("PyTorchJob", {"Master": {"replicas": 2}}),
        "spec.pytorchReplicaSpecs[Master].replicas: must be 1",
    ),
    "both numbers of processes": (
        document("PyTorchJob", {"Worker": {}}, nprocPerNode="2", elasticPolicy={"nProcPerNode": 2}),
        "spec.elasticPolicy.nProcPerNode: must not be used with spec.nprocPerNode",
    ),
}


@pytest.mark.parametrize(("job", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(job, sentence):
    assert [str(error) for error in admit_legacy(job).errors] == [sentence]


ADMITTED = {
    "a master whose replicas are left out": document(
        "PyTorchJob", {"Master": {"replicas": None}, "Worker": {}}
    ),
    "a master of XGBoost whose replicas are left out": document(
        "XGBoostJob", {"Master": {"replicas": None}, "Worker": {}}
    ),
    "containers of an MPIJob by any name": document(
        "MPIJob", {"Launcher": {"pod": {"containers": [{"name": "main", "image": "i"}]}}}
    ),
    "roles of a TFJob in any case": document("TFJob", {"WORKER": {}}),
}


@pytest.mark.parametrize("job", ADMITTED.values(), ids=ADMITTED)
def test_admitted(job):
    assert admit_legacy(job).errors == ()


def test_who_manages_a_job_cannot_change():
    old = document("PyTorchJob", TWO, runPolicy={"managedBy": "kubeflow.org/training-operator"})
    new = document("PyTorchJob", TWO, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"})
    assert [error.detail for error in admit_legacy(new, old).errors] == ["field is immutable"]
    assert admit_legacy(old, old).errors == ()


def test_the_older_number_of_processes_is_deprecated():
    verdict = admit_legacy(document("PyTorchJob", {"Worker": {}}, elasticPolicy={"nProcPerNode": 2}))
    assert verdict.warnings == (
        "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead",
    )
