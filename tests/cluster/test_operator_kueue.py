"""Kueue 0.19 admits our jobs, preempts them, suspends and resumes them: its own code counts their pods."""

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import JOBSET, condition, pod_template, with_gpus
from tests.cluster.operator import (
    Simulated,
    delete_jobs,
    ended,
    path_of,
    runtime,
    step,
    train_job,
    why,
)

pytestmark = [
    pytest.mark.parts("scheduler", "kwok", "jobset", "kueue"),
    pytest.mark.usefixtures("no_job_is_left"),
]

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
GPUS = 2


@pytest.fixture
def queue(client: Client, namespace: str, simulated: Simulated) -> Iterator[str]:
    """A queue of this namespace with room for two GPUs, on nodes that Kueue chooses; and a runtime."""
    pool = simulated(2, gpus=GPUS)
    head = {"apiVersion": KUEUE, "metadata": {"name": namespace}}
    client.create({**head, "kind": "ResourceFlavor", "spec": {"nodeLabels": {"pool": pool}}})
    gpus = {"name": "nvidia.com/gpu", "nominalQuota": GPUS}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": namespace, "resources": [gpus]}]}
    spec = {
        "namespaceSelector": {},
        "resourceGroups": [group],
        "preemption": {"withinClusterQueue": "LowerPriority"},
    }
    client.create({**head, "kind": "ClusterQueue", "spec": spec})
    for name, value in (("low", 1), ("high", 100)):
        whole = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "value": value}
        metadata = {"name": f"{namespace}-{name}"}
        client.post(f"/apis/{KUEUE}/workloadpriorityclasses", {**whole, "metadata": metadata})
    local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "team"}}
    client.create({**local, "spec": {"clusterQueue": namespace}}, namespace)
    template = with_gpus(pod_template("", run="forever"), 1)
    del template["spec"]["nodeSelector"]  # Kueue's patch brings it
    client.create(runtime(step("node", "trainer", template)), namespace)
    yield "team"
    delete_jobs(client, namespace)
    for kind in ("ClusterQueue", "ResourceFlavor"):
        client.delete(f"{collection(KUEUE, kind)}/{namespace}")
    for name in ("low", "high"):
        client.delete(f"/apis/{KUEUE}/workloadpriorityclasses/{namespace}-{name}")


def submit(client: Client, namespace: str, name: str, priority: str) -> None:
    """A job of two nodes in the queue; Kueue suspends it on its way in."""
    labels = {QUEUE: "team", PRIORITY: f"{namespace}-{priority}"}
    client.create(train_job(name, nodes=2, labels=labels), namespace)
    assert client.get(path_of(namespace, name))["spec"]["suspend"] is True


def runs(client: Client, namespace: str, name: str) -> bool:
    counts = (client.get(path_of(namespace, name)).get("status") or {}).get("jobsStatus") or []
    return any(each["ready"] for each in counts)


def pods(client: Client, namespace: str, name: str) -> list[Json]:
    return pods_of(client, namespace, f"jobset.sigs.k8s.io/jobset-name={name}")


def told(client: Client, namespace: str, name: str) -> str:
    return str(client.get(path_of(namespace, name)))


def test_kueue_admits_a_job_preempts_it_and_lets_it_go_on(client: Client, namespace: str, queue: str) -> None:
    submit(client, namespace, "low", "low")
    eventually(
        "low runs",
        lambda: runs(client, namespace, "low"),
        say=lambda: told(client, namespace, "low"),
    )
    jobset = f"{collection(JOBSET, 'JobSet', namespace)}/low"
    uid = client.get(jobset)["metadata"]["uid"]
    selected = client.get(jobset)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert "pool" in selected["nodeSelector"]

    submit(client, namespace, "high", "high")
    eventually(
        "high runs",
        lambda: runs(client, namespace, "high"),
        say=lambda: told(client, namespace, "low"),
    )
    assert condition(client.get(path_of(namespace, "low")), "Suspended")
    eventually("the pods of low are gone", lambda: not pods(client, namespace, "low"))
    eventually(
        "low says what it waits for", lambda: "quota for nvidia.com/gpu" in why(client, namespace, "low")
    )

    client.delete(path_of(namespace, "high"))
    eventually(
        "low runs again",
        lambda: runs(client, namespace, "low"),
        say=lambda: told(client, namespace, "low"),
    )
    resumed = client.get(path_of(namespace, "low"))
    assert resumed["spec"]["suspend"] is False
    assert client.get(jobset)["metadata"]["uid"] == uid
    assert {pod["status"]["phase"] for pod in pods(client, namespace, "low")} == {"Running"}


def test_two_jobs_of_a_queue_run_one_after_the_other(client: Client, namespace: str, queue: str) -> None:
    change = {"metadata": {"annotations": {"kfp-trainer.test/run": "2s"}}}
    path = f"{collection('trainer.kubeflow.org/v1alpha1', 'TrainingRuntime', namespace)}/plain"
    found = client.get(path)
    job = found["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    job["metadata"]["annotations"].update(change["metadata"]["annotations"])
    client.patch(path, {"spec": found["spec"]})
    for name in ("first", "second"):
        submit(client, namespace, name, "low")
    for name in ("first", "second"):
        assert ended(client, namespace, name, limit=120)[0] == "Complete"
    spans = sorted(span(pods(client, namespace, name)) for name in ("first", "second"))
    assert spans[0][1] <= spans[1][0], spans


def span(seen: list[Json]) -> tuple[str, str]:
    """When the first of the pods started and when the last one ended."""
    ends = [pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] for pod in seen]
    return min(pod["status"]["startTime"] for pod in seen), max(ends)
