"""The TrainJob of a step: its name, its labels, its owner, the workspace of its run."""

import pytest

from kfp_trainer.runtime_operator.launch.document import (
    TASK_LABEL,
    name_kind,
    name_of,
    place_job,
    trainers_of,
    write_job,
)
from kfp_trainer.runtime_operator.launch.passthrough import TaskConfig
from kfp_trainer.runtime_operator.launch.step import Step, job_name
from kfp_trainer.runtime_operator.launch.surroundings import RUN_LABEL, Surroundings

JOB = {"metadata": {"labels": {"team": "a"}}, "spec": {"runtimeRef": {"name": "torch"}}}
STEP = Step("run-7", "train-job", "uuid")
WORKFLOW = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "demo-x", "uid": "u1"}
CLAIM = {"name": "ws", "persistentVolumeClaim": {"claimName": "demo-x-kfp-workspace"}}
OTHER = {"name": "cache", "persistentVolumeClaim": {"claimName": "cache"}}
MOUNT = {"name": "ws", "mountPath": "/kfp-workspace"}
AROUND = Surroundings(
    {
        "metadata": {
            "labels": {RUN_LABEL: "run-of-the-pod"},
            "ownerReferences": [{**WORKFLOW, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "volumes": [CLAIM, OTHER],
            "containers": [
                {"name": "wait", "volumeMounts": [{"name": "ws", "mountPath": "/mainctrfs/kfp-workspace"}]},
                {"name": "main", "volumeMounts": [MOUNT, {"name": "cache", "mountPath": "/cache"}]},
            ],
        },
    }
)


def test_a_job_is_named_labelled_and_owned() -> None:
    metadata = write_job(JOB, STEP, AROUND, name="train-job-0123456789")["metadata"]
    assert metadata["name"] == "train-job-0123456789"
    assert metadata["labels"] == {"team": "a", TASK_LABEL: "train-job", RUN_LABEL: "run-of-the-pod"}
    assert metadata["ownerReferences"] == [{**WORKFLOW, "controller": False, "blockOwnerDeletion": False}]


def test_without_a_pod_there_is_no_owner_and_the_run_is_that_of_the_step() -> None:
    metadata = write_job(JOB, STEP, Surroundings(), name="x-0")["metadata"]
    assert metadata["labels"][RUN_LABEL] == "run-7"
    assert "ownerReferences" not in metadata


def test_a_step_of_a_pipeline_names_its_job_without_a_look_at_its_pod() -> None:
    def look() -> Surroundings:
        raise AssertionError("nothing is to be asked")

    assert name_of(JOB, STEP, look, task="finetune") == job_name("train-job", "run-7/train-job/uuid")


def test_beside_a_pipeline_a_job_is_named_by_its_owner_else_by_what_it_asks_for() -> None:
    assert name_of(JOB, Step(), lambda: AROUND, task="trial") == job_name("trial", "Workflow/demo-x/u1")
    asked = '{"runtimeRef": {"name": "torch"}}'
    assert name_of(JOB, Step(), Surroundings, task="trial") == job_name("trial", asked)


def patched(config: TaskConfig, runtime: dict | None = None) -> dict:
    (patch,) = place_job(JOB, config, AROUND, runtime=runtime or {})["spec"]["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    return dict(job["template"]["spec"]["template"]["spec"])


def test_the_workspace_of_the_step_is_mounted_where_the_step_has_it_and_nothing_else_is() -> None:
    assert patched(TaskConfig()) == {
        "volumes": [CLAIM],
        "containers": [{"name": "node", "volumeMounts": [MOUNT]}],
    }


def test_a_workspace_that_the_task_names_already_is_mounted_once() -> None:
    named = {**CLAIM, "name": "kfp-workspace"}
    mount = {**MOUNT, "name": "kfp-workspace"}
    found = patched(TaskConfig(volumes=[named], volumeMounts=[mount]))
    assert found == {"volumes": [named], "containers": [{"name": "node", "volumeMounts": [mount]}]}


def job(name: str, step: str = "") -> dict:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": step} if step else {}
    return {"name": name, "template": {"metadata": {"labels": labels}}}


RUNTIMES = {
    "a runtime that could not be read": ((), ["node"]),
    "one job that trains": ((job("node", "trainer"),), ["node"]),
    "initializers are left alone": (
        (job("dataset-initializer", "dataset-initializer"), job("node", "trainer")),
        ["node"],
    ),
    "a launcher and its nodes": ((job("node"), job("launcher", "trainer")), ["node", "launcher"]),
    "a trainer of another name": ((job("workers", "trainer"),), ["workers"]),
}


@pytest.mark.parametrize("sentence", RUNTIMES)
def test_the_jobs_that_train_are_patched(sentence: str) -> None:
    jobs, want = RUNTIMES[sentence]
    assert trainers_of({"spec": {"template": {"spec": {"replicatedJobs": list(jobs)}}}}) == want


def test_a_runtime_is_said_by_kind_where_only_its_name_was() -> None:
    found = name_kind(JOB, {"kind": "TrainingRuntime"})["spec"]["runtimeRef"]
    assert found == {"kind": "TrainingRuntime", "name": "torch"}
    said = {"spec": {"runtimeRef": {"name": "torch", "kind": "ClusterTrainingRuntime"}}}
    assert name_kind(said, {"kind": "TrainingRuntime"})["spec"] == said["spec"]
    assert name_kind(JOB, {})["spec"]["runtimeRef"] == {"name": "torch"}
