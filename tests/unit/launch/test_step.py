"""Which step a process is stands in the executor input, alike for every attempt, different for each other."""

import json

import pytest

from kfp_trainer.runtime_operator.launch.step import Step, job_name, read_step

FIRST, SECOND = "0b5f4f8c-6a0e-4c3e-9a37-9d2a5e1f0a11", "d3b07384-d9a0-4e9b-8d1e-2f6c1a5b7c22"


def started(file: str, flag: str = "--executor_input") -> list[str]:
    told = json.dumps({"inputs": {}, "outputs": {"outputFile": file}})
    return ["executor_main.py", flag, told, "--function_to_execute", "train_job"]


CASES = {
    "a backend's folder is run, task, execution": (
        started(f"/minio/mlpipeline/v2/artifacts/demo/run-7/train/{FIRST}/output_metadata.json"),
        Step("run-7", "train", FIRST),
    ),
    "another pipeline root is no matter": (
        started(f"/gcs/bucket/deep/er/demo/run-7/train/{FIRST}/output_metadata.json"),
        Step("run-7", "train", FIRST),
    ),
    "a container component has another flag": (
        started(f"/s3/b/demo/run-7/train/{FIRST}/o.json", "--executor-input"),
        Step("run-7", "train", FIRST),
    ),
    "a local run has folders of its own and no execution": (
        started("/home/ada/runs/demo-2026-11-20/train/executor_output.json"),
        Step("demo-2026-11-20", "train"),
    ),
    "a program without an executor input is no step": (["train.py", "--lr=0.1"], Step()),
    "an executor input without outputs tells nothing": (["x", "--executor_input", "{}"], Step()),
}


@pytest.mark.parametrize("sentence", CASES)
def test_a_step_is_read(sentence: str) -> None:
    argv, want = CASES[sentence]
    assert read_step(argv) == want


def test_attempts_have_one_name_and_iterations_and_siblings_have_others() -> None:
    steps = [
        Step("run-7", "train", FIRST),
        Step("run-7", "train", FIRST),
        Step("run-7", "train", SECOND),
        Step("run-7", "train-2", FIRST),
        Step("run-8", "train", FIRST),
    ]
    names = [job_name(each.task, each.key) for each in steps]
    assert names[0] == names[1]
    assert len(set(names)) == 4


NAMES = {
    "a task as it is": ("train-job", "train-job-"),
    "signs that Kubernetes does not take": ("Train_Job (2)", "train-job-2-"),
    "a digit at the beginning": ("2nd", "task-2nd-"),
    "nothing that can be read": ("__", "task-"),
    "a long one is cut": ("a-task-whose-name-is-longer-than-that", "a-task-whose-name-is-"),
    "no dash stays where it is cut": ("a-task-whose-names-x-y", "a-task-whose-names-x-"),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_a_name_is_what_kubernetes_takes(sentence: str) -> None:
    task, beginning = NAMES[sentence]
    name = job_name(task, "key")
    head, _, digest = name.rpartition("-")
    assert f"{head}-" == beginning
    assert len(digest) == 10
    # with the longest step of a runtime, its indexes and a pod's suffix it stays a label
    assert len(f"{name}-dataset-initializer-0-0-abcde") <= 63
