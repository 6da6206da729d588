"""What Kubeflow Trainer 2.3 does, on the same control plane: the faults that ours must not have."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.manifests import JOBSET, condition, job, pod_template

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset", "trainer")

TRAINER = "trainer.kubeflow.org/v1alpha1"


def runtime(template: Json, **spec: Any) -> Json:
    """A runtime with one step; what its pods do stands in the template."""
    metadata = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    replicated = {"name": "node", "template": {"metadata": metadata, "spec": job(template, 1)}}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": "plain"},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {**spec, "replicatedJobs": [replicated]}}},
    }


def train(client: Client, namespace: str, name: str, *, nodes: int) -> None:
    """Create a job; the peer's webhook may not know yet of a runtime that was made just before."""
    manifest = {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name},
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


@pytest.fixture(autouse=True)
def no_job_is_left(client: Client, namespace: str) -> Iterator[None]:
    """Deletes the jobs before their namespace goes, in which the peer would go on to make JobSets."""
    yield
    client.delete(collection(TRAINER, "TrainJob", namespace))


def test_a_job_of_two_nodes_completes(client: Client, namespace: str, simulated: Callable[..., str]) -> None:
    client.create(runtime(pod_template(simulated(1))), namespace)
    train(client, namespace, "two", nodes=2)
    path = f"{collection(TRAINER, 'TrainJob', namespace)}/two"
    eventually("the job is complete", lambda: condition(client.get(path), "Complete"))


def test_it_makes_the_jobset_of_a_failed_job_again_when_its_time_is_over(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    template = pod_template(simulated(1), exit="all=1")
    client.create(runtime(template, ttlSecondsAfterFinished=1), namespace)
    train(client, namespace, "failed", nodes=1)
    seen: set[str] = set()

    def made() -> int:
        seen.update(each["metadata"]["uid"] for each in client.items(collection(JOBSET, "JobSet", namespace)))
        return len(seen)

    eventually("three JobSets were made of one job", lambda: made() >= 3, limit=40)
