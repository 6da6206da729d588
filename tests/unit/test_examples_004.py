"""Documents of the years before the first release, as people still have them, do what they say.

The files beside this test are theirs, word for word but for the indentation. Each is accepted with exactly
the warnings of the habits it has, and becomes a JobSet that the real JobSet CRD accepts. Fragments are
merged into the documents they are meant for.
"""

from pathlib import Path
from typing import Any

import kubeflow_trainer_api.models as official
import pytest
import yaml

from kfp_trainer.runtime_operator.render.dry_run import DryRun, dry_run
from tests.real_jobset import refusals

FOLDER = Path(__file__).parent / "examples_004"
VERSION, SPLIT, LIMITS = "DeprecatedVersion", "CommandSplit", "LimitsFromRequests"
CONTAINER, TRAINER, PROCESSES = "ContainerName", "TrainerJobGuessed", "ProcessesInRuntime"
STALE, METADATA, LAUNCHER, ELASTIC = "StaleMasterAddress", "MetadataInSpec", "LauncherMoved", "ElasticPolicy"
MULTI_NODE = [VERSION, PROCESSES, TRAINER, CONTAINER, SPLIT, STALE]
AUTO = [VERSION, PROCESSES, TRAINER, CONTAINER, SPLIT]
OLD_NAMES = [VERSION, TRAINER, CONTAINER]


def example(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


def merged(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{key: merged(one.get(key), value) for key, value in other.items()}}
    return other


def with_fragment(name: str, fragment: str) -> dict[str, Any]:
    return merged(example(name), example(f"fragment-{fragment}"))


def job_on(runtime: str, **trainer: Any) -> dict[str, Any]:
    version = "trainer.kubeflow.org/v2alpha1"
    spec = {"runtimeRef": {"name": runtime}, **({"trainer": trainer} if trainer else {})}
    return {"apiVersion": version, "kind": "TrainJob", "metadata": {"name": "job"}, "spec": spec}


def elastic() -> dict[str, Any]:
    """The runtime with the fragment in the place of its number of nodes: one excludes the other."""
    runtime = with_fragment("torch-multi-node-auto", "elastic")
    del runtime["spec"]["mlPolicy"]["numNodes"]
    return runtime


def with_initializers() -> dict[str, Any]:
    """The runtime, and the two jobs that fetch what the fragment names."""
    runtime = example("torch-multi-node")
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    steps = ("dataset-initializer", "model-initializer")
    mounts = [{"name": "initializer", "mountPath": "/workspace"}]
    volumes = [{"name": "initializer", "emptyDir": {}}]
    for place, step in enumerate(steps):
        container = {"name": step, "image": "lab.example/fetch:1", "volumeMounts": mounts}
        pod = {"containers": [container], "volumes": volumes}
        jobs.insert(place, {"name": step, "template": {"spec": {"template": {"spec": pod}}}})
    jobs[-1]["dependsOn"] = [{"name": step, "status": "Complete"} for step in steps]
    return runtime


HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high-priority"},
    "value": 9,
}

# what is sent; the habits of the runtime, the habits of the job
ACCEPTED: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "a job and its runtime": (
        [example("torch-ddp"), example("torch-multi-node")],
        MULTI_NODE,
        [VERSION, LIMITS, SPLIT],
    ),
    "a job with the fragment of its trainer": (
        [with_fragment("torch-ddp", "trainer"), example("torch-multi-node")],
        MULTI_NODE,
        [VERSION, LIMITS, SPLIT],
    ),
    "a job on the runtime of that name that counts by itself": (
        [example("torch-ddp"), example("torch-multi-node-auto")],
        AUTO,
        [VERSION, LIMITS, SPLIT],
    ),
    "a job on the runtime, gang-scheduled": (
        [example("torch-ddp"), with_fragment("torch-multi-node", "coscheduling")],
        MULTI_NODE,
        [VERSION, LIMITS, SPLIT],
    ),
    "a job that fetches a dataset and a model": (
        [with_fragment("torch-ddp", "initializer"), with_initializers()],
        [VERSION, PROCESSES, TRAINER, CONTAINER, SPLIT, STALE],
        [VERSION, LIMITS, SPLIT],
    ),
    "an elastic job": (
        [example("torch-ddp"), elastic()],
        [*AUTO[:2], ELASTIC, *AUTO[2:]],
        [VERSION, LIMITS, SPLIT],
    ),
    "a runtime for DeepSpeed": (
        [job_on("deepspeed-training"), example("deepspeed")],
        [VERSION, TRAINER, LAUNCHER, CONTAINER, CONTAINER],
        [VERSION],
    ),
    "a runtime for MPI without a template": (
        [
            job_on("mpi-training", image="lab.example/mpi:1", command=["mpirun"]),
            example("mpi-without-template"),
        ],
        [VERSION, LAUNCHER],
        [VERSION],
    ),
    "a job on a runtime of Volcano, with a priority": (
        [example("my-training"), example("volcano-priority"), HIGH],
        AUTO,
        [VERSION],
    ),
    "the same job on another runtime of that name": (
        [example("my-training"), example("volcano-priority"), example("volcano"), HIGH],
        AUTO,
        [VERSION],
    ),
    "a job that names its queue": (
        [example("urgent-training"), example("volcano-queue"), example("queue")],
        OLD_NAMES,
        [VERSION, METADATA],
    ),
    "a runtime that asks for near machines": (
        [job_on("torch-topology-aware"), example("volcano-topology")],
        OLD_NAMES,
        [VERSION],
    ),
}


def tried(sentence: str) -> DryRun:
    return dry_run(ACCEPTED[sentence][0])


def habits(warnings: tuple[str, ...]) -> list[str]:
    return [warning.partition(":")[0] for warning in warnings]


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_it_is_accepted_with_exactly_its_habits(sentence):
    run, (_, runtime, job) = tried(sentence), ACCEPTED[sentence]
    assert [str(error) for each in (*run.runtimes, *run.jobs) for error in each.errors] == []
    assert habits(run.runtimes[0].warnings) == runtime
    assert habits(run.jobs[0].warnings) == job


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_the_real_jobset_accepts_it(sentence):
    (job,) = tried(sentence).jobs
    assert job.plan is not None
    assert refusals(job.plan.find("JobSet")) == []


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_the_official_models_read_what_is_sent(sentence):
    for document in ACCEPTED[sentence][0]:
        if document["kind"] == "TrainJob":
            read = official.TrainerV1alpha1TrainJob.from_dict(document)
            assert read.metadata.name == document["metadata"]["name"]


def node(sentence: str) -> dict[str, Any]:
    (job,) = tried(sentence).jobs
    jobs = {each["name"]: each for each in job.plan.find("JobSet")["spec"]["replicatedJobs"]}
    return jobs["node"]["template"]["spec"]


def main(sentence: str) -> dict[str, Any]:
    return node(sentence)["template"]["spec"]["containers"][0]


def env(sentence: str) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in main(sentence).get("env", ())}


ENV = {
    "a job and its runtime": {
        "PET_NNODES": "5",
        "PET_NPROC_PER_NODE": "2",
        "PET_MASTER_ADDR": "torch-ddp-node-0-0.torch-ddp",
        "PET_MASTER_PORT": "29400",
        "MASTER_ADDR": "torch-ddp-node-0-0.torch-ddp",
        "MASTER_PORT": "29400",
    },
    "a job on the runtime of that name that counts by itself": {"PET_NNODES": "5", "PET_NPROC_PER_NODE": "2"},
    "an elastic job": {
        "PET_NNODES": "5:10",
        "PET_MAX_RESTARTS": "3",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "torch-ddp-node-0-0.torch-ddp:29500",
    },
    "a job on a runtime of Volcano, with a priority": {"PET_NNODES": "4", "PET_NPROC_PER_NODE": "8"},
    "the same job on another runtime of that name": {"PET_NNODES": "4", "PET_NPROC_PER_NODE": "4"},
}


@pytest.mark.parametrize("sentence", ENV)
def test_the_trainer_is_told(sentence):
    held = env(sentence)
    assert {name: held.get(name) for name in ENV[sentence]} == ENV[sentence]


RESOURCES = {
    "a job and its runtime": {"requests": {"nvidia.com/gpu": 2}, "limits": {"nvidia.com/gpu": 2}},
    "a job on the runtime of that name that counts by itself": {
        "requests": {"nvidia.com/gpu": 2},
        "limits": {"nvidia.com/gpu": 2},
    },
    "a job on a runtime of Volcano, with a priority": {"limits": {"nvidia.com/gpu": 8}},
}


@pytest.mark.parametrize("sentence", RESOURCES)
def test_the_trainer_gets(sentence):
    assert main(sentence)["resources"] == RESOURCES[sentence]


COMMANDS = {
    "a job and its runtime": (["torchrun", "train.py"], None),
    "a job on a runtime of Volcano, with a priority": (["torchrun", "train.py"], ["--epochs=100"]),
    "a runtime for DeepSpeed": (["/usr/sbin/sshd", "-De"], None),
}


@pytest.mark.parametrize("sentence", COMMANDS)
def test_the_trainer_runs(sentence):
    held = main(sentence)
    assert (held.get("command"), held.get("args")) == COMMANDS[sentence]


GANGS = {
    "a job on the runtime, gang-scheduled": {
        "minMember": 5,
        "minResources": {"nvidia.com/gpu": "10"},
        "scheduleTimeoutSeconds": 120,
    },
    "a job on a runtime of Volcano, with a priority": {
        "minMember": 4,
        "minResources": {"nvidia.com/gpu": "32"},
        "priorityClassName": "high-priority",
    },
    "a job that names its queue": {"minMember": 8, "queue": "urgent-queue"},
    "a runtime that asks for near machines": {
        "minMember": 1,
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    },
}


@pytest.mark.parametrize("sentence", GANGS)
def test_the_gang_is(sentence):
    (job,) = tried(sentence).jobs
    held = {key: value for key, value in job.plan.find("PodGroup")["spec"].items() if value}
    assert held == GANGS[sentence]


REFUSED = {
    "MPI without a template and without an image": (
        [job_on("mpi-training"), example("mpi-without-template")],
        {"spec.trainer.image"},
    ),
    "an elastic policy beside a number of nodes": (
        [example("torch-ddp"), with_fragment("torch-multi-node", "elastic")],
        {"spec.mlPolicy"},
    ),
    "a dataset for a runtime that cannot fetch one": (
        [with_fragment("torch-ddp", "initializer"), example("torch-multi-node")],
        {"spec.runtimeRef"},
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_is_refused(sentence):
    documents, fields = REFUSED[sentence]
    (job,) = dry_run(documents).jobs
    assert {error.field for error in job.errors} == fields
