"""What Kubeflow Trainer 2.3 does, on the same control plane: the faults that ours must not have."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import JOBSET, condition, job, pod_template, read, with_gpus, with_scheduler

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset", "trainer")

TRAINER = "trainer.kubeflow.org/v1alpha1"


def step(name: str, ancestor: str, template: Json, **replicated: Any) -> Json:
    """One step of a runtime; its container has its name."""
    (container,) = template["spec"]["containers"]
    spec = {**template["spec"], "containers": [{**container, "name": name}]}
    metadata = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": ancestor}}
    pods = job({**template, "spec": spec}, 1)
    return {"name": name, **replicated, "template": {"metadata": metadata, "spec": pods}}


def runtime(*steps: Json, policy: Json | None = None, **spec: Any) -> Json:
    """A runtime of these steps, perhaps as a gang."""
    grouped = {"podGroupPolicy": policy} if policy else {}
    jobset = {"spec": {**spec, "replicatedJobs": list(steps)}}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": "plain"},
        "spec": {"mlPolicy": {"numNodes": 1}, **grouped, "template": jobset},
    }


def train(client: Client, namespace: str, name: str, *, nodes: int, queue: str = "") -> None:
    """Create a job; the peer's webhook may not know yet of a runtime that was made just before."""
    manifest = {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue} if queue else {}},
        "spec": {"runtimeRef": {"name": "plain", "kind": "TrainingRuntime"}, "trainer": {"numNodes": nodes}},
    }

    def accepted() -> bool:
        try:
            client.create(manifest, namespace)
        except ApiError as refused:
            assert "specified trainingRuntime must be created" in refused.message
            return False
        return True

    eventually("the job is accepted", accepted)


def completes(client: Client, path: str) -> None:
    """Wait until a job is complete."""
    eventually(f"{path} is complete", lambda: condition(client.get(path), "Complete"))


@pytest.fixture(autouse=True)
def no_job_is_left(client: Client, namespace: str) -> Iterator[None]:
    """Deletes the jobs before their namespace goes, in which the peer would go on to make JobSets."""
    yield
    client.delete(collection(TRAINER, "TrainJob", namespace))


def test_a_job_of_two_nodes_completes(client: Client, namespace: str, simulated: Callable[..., str]) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
    train(client, namespace, "two", nodes=2)
    path = f"{collection(TRAINER, 'TrainJob', namespace)}/two"
    completes(client, path)


def test_it_makes_the_jobset_of_a_failed_job_again_when_its_time_is_over(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    template = pod_template(simulated(1), exit="all=1")
    client.create(runtime(step("node", "trainer", template), ttlSecondsAfterFinished=1), namespace)
    train(client, namespace, "failed", nodes=1)
    seen: set[str] = set()

    def made() -> int:
        seen.update(each["metadata"]["uid"] for each in client.items(collection(JOBSET, "JobSet", namespace)))
        return len(seen)

    eventually("three JobSets were made of one job", lambda: made() >= 3)


GANGS: dict[str, tuple[str, Json, str]] = {
    "volcano": ("volcano", {"volcano": {}}, "scheduling.volcano.sh/v1beta1"),
    "coscheduling": (
        "scheduler-plugins-scheduler",
        {"coscheduling": {"scheduleTimeoutSeconds": 10}},
        "scheduling.x-k8s.io/v1alpha1",
    ),
}
INITIALIZERS = ("dataset-initializer", "model-initializer")
NODES = 4


def gang(scheduler: str, pool: str, *, initializers: tuple[str, ...]) -> Json:
    """A runtime whose nodes take a whole node of the pool each; its initializers take hardly anything."""
    name, policy, _ = GANGS[scheduler]
    template = with_scheduler(with_gpus(pod_template(pool), 1), name)
    first = [step(each, each, with_scheduler(pod_template(pool), name)) for each in initializers]
    after = [{"name": each, "status": "Complete"} for each in initializers]
    trainer = step("node", "trainer", template, **({"dependsOn": after} if after else {}))
    return runtime(*first, trainer, policy=policy)


@pytest.mark.parts("volcano", "coscheduling")
@pytest.mark.parametrize("scheduler", GANGS)
def test_a_gang_without_initializers_completes(
    client: Client, namespace: str, simulated: Callable[..., str], scheduler: str
) -> None:
    client.create(gang(scheduler, simulated(NODES, gpus=1), initializers=()), namespace)
    train(client, namespace, "gang", nodes=NODES)
    path = f"{collection(TRAINER, 'TrainJob', namespace)}/gang"
    completes(client, path)


@pytest.mark.parts("volcano", "coscheduling")
@pytest.mark.parametrize("scheduler", GANGS)
def test_it_counts_initializers_into_the_gang_that_waits_for_them(
    client: Client, namespace: str, simulated: Callable[..., str], scheduler: str
) -> None:
    client.create(gang(scheduler, simulated(NODES, gpus=1), initializers=INITIALIZERS), namespace)
    train(client, namespace, "stuck", nodes=NODES)
    eventually("the initializers are refused", lambda: len(refused(client, namespace)) == len(INITIALIZERS))
    group = read(client, GANGS[scheduler][2], "PodGroup", namespace, "stuck")
    assert group["spec"]["minMember"] == NODES + len(INITIALIZERS)
    pods = pods_of(client, namespace)
    assert len(pods) == len(
        INITIALIZERS
    )  # so the gang never has its members: the others are made after these
    assert not [pod for pod in pods if "nodeName" in pod["spec"]]


def refused(client: Client, namespace: str) -> list[Json]:
    """The pods of which the scheduler has said that they cannot be placed."""
    return [
        pod
        for pod in pods_of(client, namespace)
        for each in pod["status"].get("conditions") or []
        if (each["type"], each["status"]) == ("PodScheduled", "False")
    ]


KUEUE = "kueue.x-k8s.io/v1beta2"


@pytest.fixture
def queue(client: Client, namespace: str) -> Iterator[str]:
    """A queue of this namespace, with room for two GPUs."""
    flavor = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": namespace}, "spec": {}}
    gpus = {"name": "nvidia.com/gpu", "nominalQuota": 2}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": namespace, "resources": [gpus]}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    whole = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": namespace}, "spec": spec}
    client.create(flavor)
    client.create(whole)
    local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "team"}}
    client.create({**local, "spec": {"clusterQueue": namespace}}, namespace)
    yield "team"
    client.delete(f"{collection(KUEUE, 'ClusterQueue')}/{namespace}")
    client.delete(f"{collection(KUEUE, 'ResourceFlavor')}/{namespace}")


@pytest.mark.parts("kueue")
def test_kueue_lets_two_of_its_jobs_run_one_after_the_other(
    client: Client, namespace: str, simulated: Callable[..., str], queue: str
) -> None:
    template = with_gpus(pod_template(simulated(2), run="2s"), 1)
    client.create(runtime(step("node", "trainer", template)), namespace)
    jobs = ("first", "second")
    for name in jobs:
        train(client, namespace, name, nodes=2, queue=queue)
    path = collection(TRAINER, "TrainJob", namespace)
    for name in jobs:
        completes(client, f"{path}/{name}")
    times = sorted(
        span(pods_of(client, namespace, f"jobset.sigs.k8s.io/jobset-name={name}")) for name in jobs
    )
    assert times[0][1] <= times[1][0], times


def span(pods: list[Json]) -> tuple[str, str]:
    """When the first of the pods started and when the last one ended."""
    ends = [pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] for pod in pods]
    return min(pod["status"]["startTime"] for pod in pods), max(ends)
