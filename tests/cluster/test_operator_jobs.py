"""Our operator on a real control plane: plain jobs from creation to the end, and to the last trace."""

import sys
import time

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually, exists
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.manifests import JOBSET, condition, pod_template
from tests.cluster.operator import (
    TRAINER,
    Simulated,
    ended,
    kill,
    path_of,
    runtime,
    start_again,
    step,
    train_job,
    writes,
)
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.counts import count

pytestmark = [
    pytest.mark.parts("scheduler", "kwok", "jobset"),
    pytest.mark.usefixtures("no_job_is_left"),
]


ALL_REDUCE = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
line = f"rank {dist.get_rank()} of {dist.get_world_size()} total {total.item()}\\n"
os.write(1, line.encode())  # at once: the processes of a pod share its log
dist.destroy_process_group()
"""


def test_a_job_of_two_nodes_completes(client: Client, namespace: str, simulated: Simulated) -> None:
    template = pod_template(simulated(1))
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("two", nodes=2), namespace)
    assert ended(client, namespace, "two") == ("Complete", "jobset completed successfully")
    job = client.get(path_of(namespace, "two"))
    (counts,) = job["status"]["jobsStatus"]
    assert (counts["name"], counts["succeeded"], counts["active"]) == ("node", 1, 0)
    assert job["status"]["startTime"] <= job["status"]["completionTime"]
    assert job["metadata"]["generation"] == 1


def test_a_job_lives_in_four_writes(plane: Plane, namespace: str, simulated: Simulated) -> None:
    client = plane.client
    client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
    before = writes(plane)
    client.create(train_job("four", nodes=2), namespace)
    assert ended(client, namespace, "four")[0] == "Complete"
    assert writes(plane) - before <= 4


def test_an_operator_that_starts_again_writes_nothing(
    plane: Plane, operator: Process, namespace: str, simulated: Simulated
) -> None:
    client = plane.client
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), run="forever"))), namespace)
    client.create(train_job("runs"), namespace)
    client.create(train_job("rests", suspend=True), namespace)
    eventually("one runs", lambda: "startTime" in status(client, namespace, "runs"))
    eventually("one rests", lambda: condition(read_job(client, namespace, "rests"), "Suspended"))
    time.sleep(12)  # what may wait is written
    kill(operator)
    start_again(plane, operator)
    time.sleep(12)
    assert writes(plane) == 0


def test_an_operator_that_is_killed_loses_and_doubles_nothing(
    plane: Plane, operator: Process, namespace: str, simulated: Simulated
) -> None:
    client = plane.client
    client.create(runtime(step("node", "trainer", pod_template(simulated(2), run="2s"))), namespace)
    names = [f"job-{index}" for index in range(12)]
    for number, name in enumerate(names):
        client.create(train_job(name), namespace)
        if number % 4 == 3:
            kill(operator)
            start_again(plane, operator)
    for name in names:
        assert ended(client, namespace, name)[0] == "Complete"
    jobsets = client.items(collection(JOBSET, "JobSet", namespace))
    assert sorted(each["metadata"]["name"] for each in jobsets) == sorted(names)
    assert len(client.items(collection("batch/v1", "Job", namespace))) == len(names)


@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_deletion_leaves_nothing(
    client: Client, namespace: str, simulated: Simulated, propagation: str
) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), run="forever"))), namespace)
    client.create(train_job("gone", nodes=2), namespace)
    eventually("it runs", lambda: "startTime" in status(client, namespace, "gone"))
    client.delete(path_of(namespace, "gone"), {"propagationPolicy": propagation})
    kinds = (
        (TRAINER, "TrainJob"),
        (JOBSET, "JobSet"),
        ("batch/v1", "Job"),
        ("v1", "Pod"),
        ("v1", "Secret"),
    )

    def left() -> list[str]:
        found = [each for kind in kinds for each in client.items(collection(*kind, namespace))]
        maps = client.items(collection("v1", "ConfigMap", namespace))
        found += [each for each in maps if each["metadata"]["name"] != "kube-root-ca.crt"]
        return [each["metadata"]["name"] for each in found]

    eventually("nothing is left", lambda: not left(), say=lambda: str(left()))
    time.sleep(5)  # in which nothing may come back
    assert left() == []


def test_a_job_that_is_made_again_at_once_inherits_nothing(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), exit="all=1"))), namespace)
    path, seen = path_of(namespace, "again"), set()
    for _ in range(count(20, sampled=4)):
        client.create(train_job("again"), namespace)
        seen.add(client.get(path)["metadata"]["uid"])
        assert ended(client, namespace, "again")[0] == "Failed"
        client.delete(path)
        eventually("it is gone", lambda: not exists(client, path))
    client.create(train_job("again", suspend=True), namespace)
    eventually("it rests", lambda: condition(client.get(path), "Suspended"))
    time.sleep(3)
    job = client.get(path)
    assert job["metadata"]["uid"] not in seen
    assert [each["type"] for each in job["status"]["conditions"]] == ["Suspended"]


def test_suspended_and_resumed_many_times_it_has_one_jobset_and_loses_no_patch(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    pool = simulated(1)
    client.create(runtime(step("node", "trainer", pod_template(pool, run="forever"))), namespace)
    client.create(train_job("turns", suspend=True), namespace)
    path, jobset = path_of(namespace, "turns"), f"{collection(JOBSET, 'JobSet', namespace)}/turns"
    eventually("it has its JobSet", lambda: exists(client, jobset))
    uid, generation = client.get(jobset)["metadata"]["uid"], 0
    for turn in range(count(50, sampled=4)):
        patch = {"manager": "acme.io/turns", "trainingRuntimeSpec": select(pool, str(turn))}
        client.patch(path, {"spec": {"suspend": False, "runtimePatches": [patch]}})
        eventually("it goes on", lambda: client.get(jobset)["spec"]["suspend"] is False)
        eventually("its pod runs", lambda: counted(client, namespace, "turns")["ready"] == 1)
        (pod,) = [each for each in pods_of(client, namespace) if not gone(each)]
        assert pod["metadata"]["labels"]["turn"] == str(turn)
        client.patch(path, {"spec": {"suspend": True}})
        eventually("it rests", lambda: condition(client.get(path), "Suspended"))
        eventually("its pods stop", lambda: counted(client, namespace, "turns")["active"] == 0)
        found = client.get(jobset)
        assert found["metadata"]["uid"] == uid
        assert found["metadata"]["generation"] > generation
        generation = found["metadata"]["generation"]


def test_a_deadline_and_a_ttl_are_kept(client: Client, namespace: str, simulated: Simulated) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), run="forever"))), namespace)
    client.create(train_job("late", activeDeadlineSeconds=5, ttlSecondsAfterFinished=5), namespace)
    end = ended(client, namespace, "late")
    assert end == ("Failed", "TrainJob exceeded its active deadline")
    jobsets = collection(JOBSET, "JobSet", namespace)
    eventually("its JobSet goes", lambda: not client.items(jobsets))
    eventually("its pods go", lambda: not pods_of(client, namespace))
    eventually("it goes itself", lambda: not exists(client, path_of(namespace, "late")))


def test_a_failed_job_whose_jobset_goes_by_its_ttl_does_not_run_again(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    template = pod_template(simulated(1), exit="all=1")
    client.create(runtime(step("node", "trainer", template), ttlSecondsAfterFinished=0), namespace)
    jobsets = collection(JOBSET, "JobSet", namespace)
    names = [f"once-{index}" for index in range(count(50, sampled=5))]
    for name in names:
        client.create(train_job(name), namespace)
    for name in names:
        assert ended(client, namespace, name)[0] == "Failed"
    eventually("the JobSets are gone", lambda: not client.items(jobsets))
    time.sleep(5)
    assert client.items(jobsets) == []


def test_a_job_whose_jobset_ended_and_went_while_nobody_watched_has_ended(
    plane: Plane, operator: Process, namespace: str, simulated: Simulated
) -> None:
    client = plane.client
    template = pod_template(simulated(1), run="8s")
    client.create(runtime(step("node", "trainer", template), ttlSecondsAfterFinished=0), namespace)
    client.create(train_job("alone"), namespace)
    eventually("it runs", lambda: "startTime" in status(client, namespace, "alone"))
    kill(operator)
    jobsets = collection(JOBSET, "JobSet", namespace)
    eventually("its JobSet is gone", lambda: not client.items(jobsets))
    start_again(plane, operator)
    assert ended(client, namespace, "alone") == ("Complete", "jobset completed successfully")
    assert client.items(jobsets) == []


@pytest.mark.parts("process-node")
def test_a_real_torch_job_of_two_nodes_with_two_processes_each_completes(
    client: Client, namespace: str
) -> None:
    template = pod_template(PROCESS_NODE)
    container = template["spec"]["containers"][0]
    container["command"] = ["torchrun", "--no-python", sys.executable, "-c", ALL_REDUCE]
    made = runtime(step("node", "trainer", template))
    made["spec"]["mlPolicy"] = {"numNodes": 2, "torch": {}}
    client.create(made, namespace)
    job = train_job("torch", nodes=2)
    job["spec"]["trainer"]["numProcPerNode"] = 2
    client.create(job, namespace)
    assert ended(client, namespace, "torch", limit=300)[0] == "Complete"
    folder = collection("v1", "Pod", namespace)
    logs = "".join(
        client.text("GET", f"{folder}/{pod['metadata']['name']}/log") for pod in pods_of(client, namespace)
    )
    lines = sorted(line for line in logs.splitlines() if line.startswith("rank"))
    assert lines == [f"rank {rank} of 4 total 10.0" for rank in range(4)]


def test_when_the_api_server_was_gone_a_new_job_is_built_five_seconds_after_it_is_back(
    plane: Plane, namespace: str, simulated: Simulated
) -> None:
    client = plane.client
    client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
    plane.kill("kube-apiserver")
    time.sleep(30)
    plane.start_again("kube-apiserver")
    began = time.monotonic()
    client.create(train_job("new"), namespace)
    path = f"{collection(JOBSET, 'JobSet', namespace)}/new"
    eventually("it has its JobSet", lambda: exists(client, path))
    assert time.monotonic() - began <= 5
    plane.wake_up()
    assert ended(client, namespace, "new")[0] == "Complete"


def test_events_tell_of_each_decision(client: Client, namespace: str, simulated: Simulated) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), run="3s"))), namespace)
    client.create(train_job("told"), namespace)
    assert ended(client, namespace, "told")[0] == "Complete"
    events = f"{collection('v1', 'Event', namespace)}?fieldSelector=involvedObject.kind=TrainJob"
    wanted = {"JobSetCreated", "Running", "AllJobsCompleted"}

    def reasons() -> set[str]:
        return {each["reason"] for each in client.items(events) if each["firstTimestamp"]}

    eventually("all is told", lambda: wanted <= reasons(), say=lambda: str(reasons()))


def read_job(client: Client, namespace: str, name: str) -> Json:
    """A job as it is now."""
    return client.get(path_of(namespace, name))


def status(client: Client, namespace: str, name: str) -> Json:
    """The status of a job; empty if it has none."""
    found: Json = read_job(client, namespace, name).get("status") or {}
    return found


def counted(client: Client, namespace: str, name: str) -> Json:
    """What is counted of the only step of a job."""
    (found,) = status(client, namespace, name).get("jobsStatus") or [{"ready": 0, "active": 0}]
    counts: Json = found
    return counts


def gone(pod: Json) -> bool:
    """Whether a pod is on its way out."""
    return "deletionTimestamp" in pod["metadata"]


def select(pool: str, turn: str) -> Json:
    """A patch as Kueue writes it."""
    pods = {"metadata": {"labels": {"turn": turn}}, "spec": {"nodeSelector": {"pool": pool}}}
    jobs = [{"name": "node", "template": {"spec": {"template": pods}}}]
    return {"template": {"spec": {"replicatedJobs": jobs}}}
