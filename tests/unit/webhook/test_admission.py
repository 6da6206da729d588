"""What admission answers about the three kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.render import render
from kfp_trainer.runtime_operator.webhook.admission import judge, stamp
from kfp_trainer.runtime_operator.webhook.review import read_review

NOW = "2026-01-02T03:04:05Z"
LONG = "a" * 60

JOBS: dict[str, tuple[dict[str, Any], str]] = {
    "a job on its runtime": ({}, ""),
    "a runtime that is not there": (
        {"runtimeRef": {"name": "plane"}},
        'spec.RuntimeRef: clustertrainingruntimes.trainer.kubeflow.org "plane" not found',
    ),
    "a kind of runtime that nobody serves": (
        {"runtimeRef": {"name": "plain", "kind": "Nothing"}},
        "unsupported runtime: Nothing.trainer.kubeflow.org",
    ),
    "a variable that is ours to set": (
        {"trainer": {"numNodes": 1, "env": [{"name": "PET_NNODES", "value": "2"}]}},
        "spec.trainer.env",
    ),
    "a label that only controllers set, in an older field": (
        {"labels": {"jobset.sigs.k8s.io/jobset-name": "x"}},
        "spec.labels: jobset.sigs.k8s.io/jobset-name is set by the controllers alone",
    ),
    "a field of a wrong shape": ({"trainer": {"numNodes": "many"}}, "spec.trainer.numNodes"),
}


@pytest.mark.parametrize("sentence", JOBS)
async def test_a_new_job(sentence: str, job: Any, runtime: Any, world: Any, review_of: Any) -> None:
    spec, words = JOBS[sentence]
    world.add(runtime)
    job["spec"] |= spec
    verdict = await judge(read_review(review_of(job)), world)
    told = "; ".join(str(each) for each in verdict.errors)
    assert words in told
    assert bool(told) is bool(words)


async def test_a_name_too_long_for_its_jobset(job: Any, runtime: Any, world: Any, review_of: Any) -> None:
    world.add(runtime)
    job["metadata"]["name"] = LONG
    verdict = await judge(read_review(review_of(job)), world)
    assert verdict.errors[0].field == "metadata.name"


async def test_a_near_name_is_asked_for(job: Any, runtime: Any, world: Any, review_of: Any) -> None:
    world.add(runtime)
    job["spec"]["runtimeRef"]["name"] = "plane"
    verdict = await judge(read_review(review_of(job)), world)
    assert verdict.warnings == ("spec.runtimeRef: did you mean ClusterTrainingRuntime 'plain'?",)


async def test_a_deprecated_runtime_is_warned_of(job: Any, runtime: Any, world: Any, review_of: Any) -> None:
    runtime["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    world.add(runtime)
    verdict = await judge(read_review(review_of(job)), world)
    assert verdict.errors == ()
    assert 'ClusterTrainingRuntime "plain" is deprecated' in verdict.warnings[0]


async def test_an_older_spelling_is_warned_of(job: Any, runtime: Any, world: Any, review_of: Any) -> None:
    world.add(runtime)
    job["spec"]["labels"] = {"team": "a"}
    verdict = await judge(read_review(review_of(job)), world)
    assert verdict.errors == ()
    assert any("spec.labels" in each for each in verdict.warnings)


async def test_a_label_may_always_change(job: Any, world: Any, review_of: Any) -> None:
    new = copy.deepcopy(job)
    new["metadata"]["labels"] = {"a": "b"}
    verdict = await judge(read_review(review_of(new, job)), world)
    assert (verdict.errors, world.asked) == ((), [])


def patch_of_a_job_that_is_not_there() -> dict[str, Any]:
    pod = {"template": {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}}
    replicated = [{"name": "nowhere", **pod}]
    return {"manager": "a.b/c", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": replicated}}}}


async def test_the_snapshot_serves_when_the_runtime_is_gone(
    job: Any, runtime: Any, world: Any, review_of: Any
) -> None:
    plan: Any = render(read(job), read(runtime))  # type: ignore[arg-type]
    world.existing = {(each["kind"], each["metadata"]["name"]): each for each in plan.objects}
    new = copy.deepcopy(job)
    new["spec"]["suspend"] = True
    verdict = await judge(read_review(review_of(new, job)), world)
    assert (verdict.errors, verdict.warnings) == ((), ())
    new["spec"]["runtimePatches"] = [patch_of_a_job_that_is_not_there()]
    verdict = await judge(read_review(review_of(new, job)), world)
    assert verdict.errors[0].field.startswith("spec.runtimePatches")
    assert world.asked == ["bert", "bert"]


async def test_without_runtime_and_snapshot_a_stored_job_may_still_rest(
    job: Any, world: Any, review_of: Any
) -> None:
    new = copy.deepcopy(job)
    new["spec"]["suspend"] = True
    verdict = await judge(read_review(review_of(new, job)), world)
    assert verdict.errors == ()
    assert "is not found and the job has no snapshot" in verdict.warnings[0]


async def test_a_runtime_without_the_container_that_trains(runtime: Any, world: Any, review_of: Any) -> None:
    (replicated,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    replicated["replicas"] = 2
    verdict = await judge(read_review(review_of(runtime)), world)
    assert [each.field for each in verdict.errors] == ["spec.template.spec.replicatedJobs[0].replicas"]


async def test_an_update_of_a_runtime_is_held_to_the_same_rules(
    runtime: Any, world: Any, review_of: Any
) -> None:
    old = copy.deepcopy(runtime)
    (replicated,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    replicated["replicas"] = 2
    verdict = await judge(read_review(review_of(runtime, old)), world)
    assert verdict.errors


def test_a_new_patch_is_stamped(job: Any, review_of: Any) -> None:
    job["spec"]["runtimePatches"] = [
        {"manager": "a.b/c"},
        {"manager": "d.e/f", "time": "2020-01-01T00:00:00Z"},
    ]
    assert stamp(read_review(review_of(job)), now=NOW) == [
        {"op": "add", "path": "/spec/runtimePatches/0/time", "value": NOW}
    ]


def test_a_patch_of_a_wrong_shape_is_left_to_the_schema(job: Any, review_of: Any) -> None:
    job["spec"]["runtimePatches"] = ["nonsense", 1]
    assert stamp(read_review(review_of(job)), now=NOW) == []


def test_runtimes_are_not_changed(runtime: Any, review_of: Any) -> None:
    assert stamp(read_review(review_of(runtime)), now=NOW) == []


async def test_a_runtime_that_nobody_can_read(job: Any, world: Any, review_of: Any) -> None:
    async def unreadable(job: Any) -> Any:
        raise SpecError("spec.template: a mess")

    world.runtime = unreadable
    verdict = await judge(read_review(review_of(job)), world)
    assert [str(each) for each in verdict.errors] == ["spec.template: a mess"]
