"""What cannot become anything sensible is refused with the field that has to change."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError

TORCH = {"torch": {}}


def two_trainers(world):
    return world.runtime_of(TORCH, world.replicated_job("a"), world.replicated_job("b")), {}


def nobody(world):
    jobs = [world.replicated_job("a", step=""), world.replicated_job("b", step="")]
    return world.runtime_of(TORCH, *jobs), {"trainer": {"numNodes": 2}}


def no_template(world):
    runtime = world.runtime_of(TORCH)
    del runtime["spec"]["template"]
    return runtime, {}


def no_image(world):
    return world.runtime_of(TORCH, world.replicated_job(container={"image": ""})), {}


def no_image_of_a_sidecar(world):
    return world.runtime_of(TORCH, world.replicated_job(sidecars=[{"name": "s"}])), {}


def no_image_of_mpi(world):
    bare = {"image": ""}
    node = world.replicated_job("node", step="", container=bare)
    return world.runtime_of({"mpi": {}}, node, world.replicated_job("launcher", container=bare)), {}


def no_image_of_an_initializer(world):
    fetch = world.replicated_job("d", step="dataset-initializer", container={"image": None})
    return world.runtime_of(TORCH, fetch, world.replicated_job()), {}


REFUSED = {
    "two trainers": (
        two_trainers,
        "spec.runtimeRef: ClusterTrainingRuntime 'rt' has more than one trainer, got a, b",
    ),
    "a trainer that nobody is": (
        nobody,
        "spec.runtimeRef: nobody can tell which job of ClusterTrainingRuntime 'rt'",
    ),
    "no jobs": (no_template, "spec.runtimeRef: ClusterTrainingRuntime 'rt' has no jobs"),
    "no image": (no_image, "spec.trainer.image: container 'node' of job 'node' has no image: name one"),
    "MPI without an image": (
        no_image_of_mpi,
        "spec.trainer.image: container 'node' of job 'node' has no image: name one\n"
        "spec.trainer.image: container 'node' of job 'launcher' has no image: name one",
    ),
    "an initializer without an image": (
        no_image_of_an_initializer,
        "spec.runtimeRef: container 'dataset-initializer' of job 'd' has no image",
    ),
    "a sidecar without an image": (
        no_image_of_a_sidecar,
        "spec.runtimeRef: container 's' of job 'node' has no image",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence, world):
    make, want = REFUSED[sentence]
    runtime, spec = make(world)
    with pytest.raises(SpecError) as caught:
        world.plan_of(runtime, world.train_job(**spec))
    assert str(caught.value).startswith(want)
    built = world.plan_of(runtime, world.train_job(**spec), compat="upstream")
    assert built.find("JobSet"), "upstream builds it all the same"


def test_an_image_of_the_job_is_enough(world):
    runtime, _ = no_image(world)
    plan = world.plan_of(runtime, world.train_job(trainer={"image": "mine"}))
    assert world.container_of(plan)["image"] == "mine"


def test_jobs_without_a_trainer_run_when_the_job_asks_for_none(world):
    runtime, _ = nobody(world)
    names = [each.name for each in world.plan_of(runtime, world.train_job()).pod_sets]
    assert names == ["a", "b"]
