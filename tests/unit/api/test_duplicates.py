from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.duplicates import duplicates
from kfp_trainer.runtime_operator.api.node import kind_node

DUPLICATE, INVALID = "FieldValueDuplicate", "FieldValueInvalid"
ENV = "spec.trainer.env"

CASES = {
    "different names": ([{"name": "a"}, {"name": "b"}], set()),
    "the second of a pair is told, the third is not": (
        [{"name": "a"}, {"name": "a"}, {"name": "a"}],
        {(f"{ENV}[1]", DUPLICATE, "")},
    ),
    "two without a name are equal": ([{}, None], {(f"{ENV}[1]", DUPLICATE, "")}),
    "an item that is no object ends the matter": (
        [{"name": "a"}, 7, {"name": "a"}],
        {(f"{ENV}[1]", INVALID, "must be an object for an array of list-type map")},
    ),
    "no list": ({"name": "a"}, set()),
    "a scalar": ("x", set()),
}


@pytest.mark.parametrize("sentence", CASES)
def test_items_told_apart_by_name(job, sentence):
    env, want = CASES[sentence]
    found = duplicates(kind_node(TrainJob), job(trainer={"env": env}))
    assert {(error.field, error.type, error.detail) for error in found} == want


def test_one_volume_may_be_mounted_twice_by_us_and_not_by_upstream(job):
    mounts = [{"name": "data", "mountPath": path} for path in ("/a", "/b", "/a")]
    pod = {"spec": {"containers": [{"name": "node", "volumeMounts": mounts}]}}
    jobs = [{"name": "node", "template": {"spec": {"template": pod}}}]
    document = job(
        runtimePatches=[
            {"manager": "a.io/b", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}
        ]
    )
    where = (
        "spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template.spec"
        ".containers[0].volumeMounts"
    )
    ours = [error.field for error in duplicates(kind_node(TrainJob), document)]
    upstream = [error.field for error in duplicates(kind_node(TrainJob, compat="upstream"), document)]
    assert ours == [f"{where}[2]"]
    assert upstream == [f"{where}[1]"]


def test_items_of_a_set_differ(runtime):
    targets = [{"jobName": "a", "containerNames": ["x", "y", "x"]}, {"jobName": "a", "containerNames": ["x"]}]
    document = runtime(mlPolicy={"torch": {"envInjection": {"targets": targets}}})
    path = "spec.mlPolicy.torch.envInjection.targets"
    found = {error.field for error in duplicates(kind_node(TrainingRuntime), document)}
    assert found == {f"{path}[1]", f"{path}[0].containerNames[2]"}


def test_what_the_schema_does_not_know_is_passed_over(job):
    assert list(duplicates(kind_node(TrainJob), job(typo=[{"name": "a"}, {"name": "a"}]))) == []
    assert list(duplicates(kind_node(TrainJob), "x")) == []
