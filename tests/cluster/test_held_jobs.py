"""What our way with a replica that failed for good rests on, shown on the real JobSet and Job controllers.

A Job of a JobSet gets a parallelism of 0 by our hand: JobSet's controller leaves it so, no pod comes, the one
that failed stays to be read, and nothing happens to the other Jobs. No operator runs here.
"""

import time

import pytest

from kfp_trainer.runtime_operator.render.legacy import render_legacy
from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import JOBSET, SCRIPT
from tests.cluster.operator import Simulated
from tests.legacy_jobs import legacy_job

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

BACK_OFF_SECONDS = 10.0
"""after which a Job would replace the first pod that failed"""
ALL_RUN = {f"job-worker-{index}": ["Running"] for index in range(3)}


@pytest.fixture
def running(client: Client, namespace: str, simulated: Simulated) -> None:
    """The JobSet of three workers, whose pods run."""
    pool = {"nodeSelector": {"pool": simulated(1)}}
    worker = {"replicas": 3, "metadata": {"annotations": {f"{SCRIPT}run": "forever"}}, "pod": pool}
    plan = render_legacy(legacy_job("PyTorchJob", {"Worker": worker}))
    (jobset,) = (each for each in plan.objects if each["kind"] == "JobSet")
    metadata = {"name": "job", "labels": jobset["metadata"]["labels"]}
    client.create({**jobset, "metadata": metadata}, namespace)
    eventually("its pods run", lambda: phases(client, namespace) == ALL_RUN)


def phases(client: Client, namespace: str) -> dict[str, list[str]]:
    """The phases of the pods of each Job, of what nobody has deleted."""
    found: dict[str, list[str]] = {}
    for pod in pods_of(client, namespace):
        if "deletionTimestamp" not in pod["metadata"]:
            found.setdefault(pod["metadata"]["labels"]["job-name"], []).append(pod["status"]["phase"])
    return {name: sorted(of) for name, of in found.items()}


def end(client: Client, namespace: str, job: str, *, phase: str) -> None:
    """Let the pod of a Job end."""
    (pod,) = pods_of(client, namespace, f"job-name={job}")
    path = f"{collection('v1', 'Pod', namespace)}/{pod['metadata']['name']}/status"
    client.patch(path, {"status": {"phase": phase}})


def set_parallelism(client: Client, namespace: str, job: str, number: int) -> None:
    """Hold a Job, or let it go."""
    client.patch(f"{collection('batch/v1', 'Job', namespace)}/{job}", {"spec": {"parallelism": number}})


def jobs(client: Client, namespace: str) -> dict[str, int]:
    """The parallelism of each Job."""
    found: list[Json] = client.items(collection("batch/v1", "Job", namespace))
    return {each["metadata"]["name"]: each["spec"]["parallelism"] for each in found}


def counts(client: Client, namespace: str) -> tuple[int, int]:
    """How many Jobs JobSet counts as active and as succeeded."""
    found = client.get(f"{collection(JOBSET, 'JobSet', namespace)}/job")
    told = found.get("status", {}).get("replicatedJobsStatus") or [{"active": 0, "succeeded": 0}]
    return told[0]["active"], told[0]["succeeded"]


@pytest.mark.usefixtures("running")
def test_a_held_job_stays_held_and_its_failed_pod_stays(client: Client, namespace: str) -> None:
    end(client, namespace, "job-worker-1", phase="Failed")
    set_parallelism(client, namespace, "job-worker-1", 0)
    end(client, namespace, "job-worker-2", phase="Succeeded")
    eventually("JobSet has looked since", lambda: counts(client, namespace)[1] == 1)
    time.sleep(BACK_OFF_SECONDS + 2)  # in which nothing may come
    left = {"job-worker-0": ["Running"], "job-worker-1": ["Failed"], "job-worker-2": ["Succeeded"]}
    assert phases(client, namespace) == left
    assert jobs(client, namespace) == {"job-worker-0": 1, "job-worker-1": 0, "job-worker-2": 1}

    set_parallelism(client, namespace, "job-worker-1", 1)
    eventually(
        "it has a pod again",
        lambda: phases(client, namespace)["job-worker-1"] == ["Failed", "Running"],
        say=lambda: str(phases(client, namespace)),
    )


@pytest.mark.usefixtures("running")
def test_a_jobset_that_rests_keeps_the_pods_that_have_ended(client: Client, namespace: str) -> None:
    end(client, namespace, "job-worker-1", phase="Failed")
    set_parallelism(client, namespace, "job-worker-1", 0)
    end(client, namespace, "job-worker-2", phase="Succeeded")
    eventually("JobSet has looked since", lambda: counts(client, namespace)[1] == 1)
    path = f"{collection(JOBSET, 'JobSet', namespace)}/job"
    client.patch(path, {"spec": {"suspend": True}})
    ended = {"job-worker-1": ["Failed"], "job-worker-2": ["Succeeded"]}
    eventually(
        "the pod that runs goes",
        lambda: phases(client, namespace) == ended,
        say=lambda: str(phases(client, namespace)),
    )
    client.patch(path, {"spec": {"suspend": False}})
    eventually("it comes back", lambda: phases(client, namespace) == {**ended, "job-worker-0": ["Running"]})
    assert jobs(client, namespace)["job-worker-1"] == 0


@pytest.mark.usefixtures("running")
def test_a_jobset_that_goes_takes_the_held_job_along(client: Client, namespace: str) -> None:
    end(client, namespace, "job-worker-1", phase="Failed")
    set_parallelism(client, namespace, "job-worker-1", 0)
    client.delete(f"{collection(JOBSET, 'JobSet', namespace)}/job", {"propagationPolicy": "Foreground"})
    jobsets = collection(JOBSET, "JobSet", namespace)
    eventually("the JobSet is gone", lambda: client.items(jobsets) == [])
    eventually("all is gone", lambda: not jobs(client, namespace) and not pods_of(client, namespace))
