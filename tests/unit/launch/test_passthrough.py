"""What is set on a task reaches the pods that train, whoever wrote it and however."""

import pytest
from kfp import dsl

from kfp_trainer.runtime_operator.launch.passthrough import (
    MANAGER,
    TaskConfig,
    merge_resources,
    read_task_config,
    resolve_env,
    with_task_config,
)

JOB = {"spec": {"runtimeRef": {"name": "torch"}}}
SECRET = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
WHOLE = {
    "affinity": None,
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": None}],
    "nodeSelector": {"pool": "a100"},
    "env": [SECRET],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": None}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "resources": {"limits": {"cpu": "4", "nvidia.com/gpu": "2"}, "requests": None},
}


def test_the_json_of_a_driver_is_read_without_its_nulls() -> None:
    assert read_task_config(WHOLE) == TaskConfig(
        resources={"limits": {"cpu": "4", "nvidia.com/gpu": "2"}},
        env=[SECRET],
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        volumeMounts=[{"name": "data", "mountPath": "/data"}],
        nodeSelector={"pool": "a100"},
        tolerations=[{"key": "gpu", "operator": "Exists"}],
    )


def test_the_value_that_kfp_makes_of_it_is_read_alike() -> None:
    given = dsl.TaskConfig(
        tolerations=WHOLE["tolerations"],
        node_selector=WHOLE["nodeSelector"],
        env=WHOLE["env"],
        volumes=WHOLE["volumes"],
        volume_mounts=WHOLE["volumeMounts"],
        resources=WHOLE["resources"],
    )
    assert read_task_config(given) == read_task_config(WHOLE)


@pytest.mark.parametrize("nothing", [None, {}, dsl.TaskConfig(), {"env": None, "volumes": []}])
def test_where_nothing_is_set_the_job_stays_as_it_is(nothing) -> None:
    config = read_task_config(nothing)
    assert config == TaskConfig()
    assert with_task_config(JOB, config, trainers=["node"]) == JOB


def test_everything_has_its_place() -> None:
    found = with_task_config(JOB, read_task_config(WHOLE), trainers=["node", "launcher"])
    assert found["spec"]["trainer"] == {
        "resourcesPerNode": {"limits": {"cpu": "4", "nvidia.com/gpu": "2"}},
        "env": [SECRET],
    }
    (patch,) = found["spec"]["runtimePatches"]
    assert patch["manager"] == MANAGER
    jobs = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert [each["name"] for each in jobs] == ["node", "launcher"]
    for each in jobs:
        assert each["template"]["spec"]["template"]["spec"] == {
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "nodeSelector": {"pool": "a100"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "containers": [{"name": "node", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
        }


def test_patches_of_others_stay() -> None:
    job = {"spec": {**JOB["spec"], "runtimePatches": [{"manager": "acme.io/foo"}]}}
    found = with_task_config(job, read_task_config(WHOLE), trainers=["node"])
    assert [each["manager"] for each in found["spec"]["runtimePatches"]] == ["acme.io/foo", MANAGER]


RESOURCES = {
    "the task adds what was not written": (
        {"limits": {"cpu": "1"}},
        {"limits": {"memory": "1Gi"}},
        {"limits": {"cpu": "1", "memory": "1Gi"}},
    ),
    "the task wins": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, {"limits": {"cpu": "2"}}),
    "requests and limits are apart": (
        {"requests": {"cpu": "1"}},
        {"limits": {"cpu": "2"}},
        {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
    ),
    "claims stay": ({"claims": [{"name": "x"}]}, {}, {"claims": [{"name": "x"}]}),
}


@pytest.mark.parametrize("sentence", RESOURCES)
def test_resources_are_merged_by_name(sentence: str) -> None:
    written, wanted, want = RESOURCES[sentence]
    assert merge_resources(written, wanted) == want


def test_env_of_the_task_wins_by_name_and_keeps_the_order() -> None:
    job = {"spec": {"trainer": {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}}}
    config = TaskConfig(env=[{"name": "A", "value": "9"}, {"name": "C", "value": "3"}])
    env = with_task_config(job, config, trainers=["node"])["spec"]["trainer"]["env"]
    assert [(each["name"], each["value"]) for each in env] == [("A", "9"), ("B", "2"), ("C", "3")]


def field(path: str):
    return {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}


FIELDS = {
    "a label of the step's pod": (field("metadata.labels['pipeline/runid']"), {"name": "X", "value": "r7"}),
    "an annotation of it": (field("metadata.annotations['who']"), {"name": "X", "value": "ada"}),
    "a label that only the training's pods have": (
        field("metadata.labels['batch.kubernetes.io/job-completion-index']"),
        field("metadata.labels['batch.kubernetes.io/job-completion-index']"),
    ),
    "the name of the training's own pod": (field("metadata.name"), field("metadata.name")),
    "a secret": (SECRET, SECRET),
    "a value": ({"name": "X", "value": ""}, {"name": "X", "value": ""}),
}


@pytest.mark.parametrize("sentence", FIELDS)
def test_env_from_labels_is_resolved_where_the_step_has_them(sentence: str) -> None:
    given, want = FIELDS[sentence]
    pod = {"metadata": {"labels": {"pipeline/runid": "r7"}, "annotations": {"who": "ada"}}}
    assert resolve_env([given], pod) == [want]
