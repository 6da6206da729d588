"""The pods of a role are found by the labels of an older kind, or else by those of a JobSet."""

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.jobs.cluster.kinds import TRAIN_JOBS
from kfp_trainer.runtime_operator.jobs.cluster.reading import read_role
from kfp_trainer.runtime_operator.kube.resource import PODS
from tests.fake_api.server import FakeApi
from tests.virtual_time import in_virtual_time

OLDER, NEWER = "training.kubeflow.org", "jobset.sigs.k8s.io"
LAB = "lab"


def older(job, role, index):
    return {f"{OLDER}/job-name": job, f"{OLDER}/replica-type": role, f"{OLDER}/replica-index": str(index)}


def newer(job, role, index):
    return {
        f"{NEWER}/jobset-name": job,
        f"{NEWER}/replicatedjob-name": role,
        f"{NEWER}/job-index": str(index),
    }


def of_the_cluster(*labels):
    api = FakeApi(TRAIN_JOBS)
    for number, each in enumerate(labels):
        api.create(PODS, {"metadata": {"name": f"pod-{number}", "namespace": LAB, "labels": each}})
    return api.transport()


@pytest.mark.parametrize("labels", [older, newer], ids=["of an older kind", "of a JobSet"])
@in_virtual_time
async def test_the_pods_of_a_role_come_in_their_order(labels):
    others = labels("job", "chief", 0), labels("another", "worker", 0)
    workers = [labels("job", "worker", index) for index in (10, 2, 0)]
    found = await read_role(of_the_cluster(*others, *workers), LAB, "job", "Worker")
    assert [each["metadata"]["name"] for each in found] == ["pod-4", "pod-3", "pod-2"]


@in_virtual_time
async def test_a_role_without_pods_is_told():
    transport = of_the_cluster(older("job", "chief", 0))
    with pytest.raises(SpecError, match="--role: job job has no pod of role ps in namespace lab"):
        await read_role(transport, LAB, "job", "PS")
