"""An MPIJob is what the version says that it was written as, whichever version it is read in."""

import pytest

from kfp_trainer.runtime_operator.api.legacy import check_legacy, kind_of, read_legacy
from kfp_trainer.runtime_operator.api.legacy.kinds import LEGACY_KINDS, MPI_BY_SSH
from kfp_trainer.runtime_operator.api.legacy.mpi import MPISpec, read_mpi
from kfp_trainer.runtime_operator.api.legacy.schema import crd_schema
from kfp_trainer.runtime_operator.api.legacy.versions import marked, written_as
from tests.legacy_jobs import legacy_document, ssh_job

V1, V2 = "kubeflow.org/v1", "kubeflow.org/v2beta1"
MARK = "kfp-trainer/written-as"


def mpi(version: str = V1, **metadata) -> dict:
    document = legacy_document("MPIJob", {"Launcher": {}})
    return {**document, "apiVersion": version, "metadata": {**document["metadata"], **metadata}}


def writer(version: str, time: str, **more) -> dict:
    return {"apiVersion": version, "time": time, "manager": "kubectl", **more}


WRITTEN = {
    "as the document says": (mpi(V2), V2),
    "as it is marked, whoever reads it": (mpi(V1, annotations={MARK: V2}), V2),
    "a mark that is no version does not count": (mpi(V2, annotations={MARK: "v9"}), V2),
    "without a mark the first who wrote it tells": (
        mpi(V1, managedFields=[writer(V1, "2026-11-02"), writer(V2, "2026-11-01")]),
        V2,
    ),
    "who writes the status alone does not count": (
        mpi(V1, managedFields=[writer(V2, "2026-11-01", subresource="status"), writer(V1, "2026-11-02")]),
        V1,
    ),
    "other kinds have one version": (
        {**legacy_document("TFJob", {}), "metadata": {"annotations": {MARK: V2}}},
        V1,
    ),
}


@pytest.mark.parametrize(("document", "version"), WRITTEN.values(), ids=WRITTEN)
def test_a_job_was_written(document, version):
    assert written_as(document) == version
    kind = kind_of(document)
    assert kind.uses_ssh is (version == V2) and kind.api_version == version


def test_a_new_job_is_marked_and_stays_what_it_was():
    new = marked(mpi(V2, annotations={"a": "b"}))
    assert new["metadata"]["annotations"] == {"a": "b", MARK: V2}
    changed = marked(mpi(V1), old={**new, "apiVersion": V1})
    assert changed["metadata"]["annotations"] == {MARK: V2}
    tf = legacy_document("TFJob", {})
    assert marked(tf) is tf


DEFAULTS = {
    "one slot, OpenMPI, root's keys, at once": ({}, MPISpec(1, "OpenMPI", "/root/.ssh", False, False)),
    "what the job says": (
        {
            "slotsPerWorker": 0,
            "mpiImplementation": "Intel",
            "sshAuthMountPath": "/home/mpiuser/.ssh",
            "runLauncherAsWorker": True,
            "launcherCreationPolicy": "WaitForWorkersReady",
        },
        MPISpec(0, "Intel", "/home/mpiuser/.ssh", True, True),
    ),
}


@pytest.mark.parametrize(("spec", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults(spec, expected):
    assert read_mpi(ssh_job(**spec)) == expected


def test_a_launcher_is_tried_again_and_a_worker_is_not():
    roles = {role.name: role.restart_policy for role in ssh_job().roles}
    assert roles == {"Launcher": "OnFailure", "Worker": "Never"}


MANAGERS = {"kubeflow.org/mpi-operator": "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue": None}


@pytest.mark.parametrize(("manager", "meant"), MANAGERS.items())
def test_the_mpi_operators_name_means_us(manager, meant):
    assert ssh_job(runPolicy={"managedBy": manager}).policy.managed_by == (meant or manager)


def test_one_schema_serves_both_versions_without_a_default_of_either():
    spec = crd_schema(LEGACY_KINDS["MPIJob"])["properties"]["spec"]
    assert crd_schema(MPI_BY_SSH) == crd_schema(LEGACY_KINDS["MPIJob"])
    assert {"mainContainer", "cleanPodPolicy", "sshAuthMountPath", "slotsPerWorker"} <= set(
        spec["properties"]
    )
    assert not [name for name, field in spec["properties"].items() if "default" in field]


CHECKED = {
    "an implementation that nobody has": (
        {"mpiImplementation": "LAM"},
        'spec.mpiImplementation: supported values: "OpenMPI", "Intel", "MPICH"',
        (),
    ),
    "a field of v1": ({"mainContainer": "mpi"}, None, ("spec.mainContainer",)),
    "nothing wrong": ({"slotsPerWorker": 2}, None, ()),
}


@pytest.mark.parametrize(("spec", "error", "unknown"), CHECKED.values(), ids=CHECKED)
def test_check(spec, error, unknown):
    document = legacy_document("MPIJob", {"Launcher": {}}, version="v2beta1", **spec)
    checked = check_legacy(document)
    assert [str(each) for each in checked.errors[:1]] == ([error] if error else [])
    assert checked.unknown_fields == unknown


def test_a_document_of_v1_does_not_know_the_fields_of_v2beta1():
    document = legacy_document("MPIJob", {"Launcher": {}}, sshAuthMountPath="/keys")
    assert check_legacy(document).unknown_fields == ("spec.sshAuthMountPath",)
    assert read_legacy(document).kind is LEGACY_KINDS["MPIJob"]
