"""What Kueue's Workloads say of jobs that wait, and how it comes into a job's `why`."""

import pytest

from kfp_trainer.runtime_operator.controller.queueing import queued
from kfp_trainer.runtime_operator.kube.resource import Resource
from tests.controller_stage import Stage
from tests.controller_stage.stage import VOLCANO
from tests.virtual_time import in_virtual_time

NO_QUOTA = "couldn't assign flavors to pod set node: insufficient unused quota for nvidia.com/gpu"
NEW = Resource("kueue.x-k8s.io", "v1beta2", "workloads", "Workload")
OLD = Resource("kueue.x-k8s.io", "v1beta1", "workloads", "Workload")


def condition(type_, holds, message=""):
    return {"type": type_, "status": str(holds), "message": message}


CASES = {
    "a Workload that nobody has looked at": ({}, ""),
    "no quota": ({"conditions": [condition("QuotaReserved", False, NO_QUOTA)]}, NO_QUOTA),
    "quota, and admitted": (
        {"conditions": [condition("QuotaReserved", True, "ok"), condition("Admitted", True, "ok")]},
        "",
    ),
    "preempted": (
        {"conditions": [condition("Evicted", True, "p"), condition("QuotaReserved", False, "Preempted")]},
        "Preempted",
    ),
    "quota, and a check that waits": (
        {
            "conditions": [condition("QuotaReserved", True, "ok")],
            "admissionChecks": [
                {"name": "done", "state": "Ready"},
                {"name": "nodes", "state": "Pending", "message": "provisioning"},
                {"name": "budget", "state": "Retry"},
            ],
        },
        "admission check nodes is pending: provisioning; admission check budget is retry",
    ),
    "quota, and nothing more to say": ({"conditions": [condition("QuotaReserved", True, "ok")]}, ""),
}


@pytest.mark.parametrize("sentence", CASES)
def test_what_a_workload_says(sentence):
    status, want = CASES[sentence]
    assert queued({"status": status}) == want


def workload(job, message, *, uid=None):
    owner = {"kind": "TrainJob", "name": job["metadata"]["name"], "uid": uid or job["metadata"]["uid"]}
    return {
        "metadata": {"name": "trainjob-bert-1a2b", "namespace": "lab", "ownerReferences": [owner]},
        "status": {"conditions": [condition("QuotaReserved", False, message)]},
    }


@pytest.mark.parametrize("served", [(NEW,), (OLD,), (NEW, OLD)], ids=["new", "old", "both"])
@in_virtual_time
async def test_a_job_says_what_kueue_says(served):
    async with Stage(VOLCANO, *served) as stage:
        job = stage.create_job(metadata={"labels": {"kueue.x-k8s.io/queue-name": "team"}}, suspend=True)
        stage.api.create(served[0], workload(job, NO_QUOTA))
        await stage.settle()
        assert stage.status()["why"] == f"waits until Kueue admits it to the queue team: {NO_QUOTA}"
        stage.delete_job()
        again = stage.create_job(metadata={"labels": {"kueue.x-k8s.io/queue-name": "team"}}, suspend=True)
        assert again["metadata"]["uid"] != job["metadata"]["uid"]
        await stage.settle()
        assert stage.status()["why"] == "waits until Kueue admits it to the queue team"
