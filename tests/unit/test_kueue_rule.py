"""A job of Kueue keeps the pod sets that Kueue computes.

Kueue counts a TrainJob's pods with upstream's own code, and admits the job for that many. A job that bears
its queue label, or its patch, therefore has upstream's job names, order, counts and requests, also where we
would do better. Every conformance case that upstream builds is asked, with the label and with the patch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kfp_trainer.runtime_operator.render.pod_requests import pod_requests
from tests.conformance.__main__ import CASES
from tests.conformance.answer import answer
from tests.recorded_cases import read_cases

Document = dict[str, Any]
BUILT = {path.stem: case for path, case in read_cases(CASES) if case["expect"]["outcome"] == "built"}


def with_label(job: Document) -> None:
    job["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = "gpus"


def with_patch(job: Document) -> None:
    patches = job["spec"].setdefault("runtimePatches", [])
    if all(patch["manager"] != "kueue.x-k8s.io/manager" for patch in patches):
        patches.append({"manager": "kueue.x-k8s.io/manager"})


def asked(name: str, mark: Callable[[Document], None] | None) -> Document:
    case = copy.deepcopy(BUILT[name])
    for document in case["input"]:
        if document["kind"] == "TrainJob" and mark is not None:
            mark(document)
    return case


def pod_sets(told: Document) -> list[Any] | None:
    """What Kueue computes of the JobSet: names, pods at one time and requests, in order."""
    jobsets = [each for each in told.get("objects") or () if each["kind"] == "JobSet"]
    return [_pod_set(job) for each in jobsets for job in each["spec"].get("replicatedJobs") or ()] or None


def _pod_set(job: Document) -> tuple[Any, ...]:
    spec = job["template"]["spec"]
    requests = pod_requests(spec["template"]["spec"], upstream=True)
    at_once = min(spec["parallelism"], spec["completions"])
    return job["name"], job.get("replicas", 1) * at_once, requests


@pytest.mark.parametrize("mark", [with_label, with_patch])
@pytest.mark.parametrize("name", BUILT)
def test_the_pod_sets_are_upstreams(name, mark):
    case = asked(name, mark)
    ours = pod_sets(answer(case, compat=None))
    if ours is not None:
        assert ours == pod_sets(answer(case, compat="upstream"))


DIFFERS = ("mpi-num-nodes-of-the-runtime-multiplies-launchers", "mpi-launcher-as-node-one-node")


@pytest.mark.parametrize("name", DIFFERS)
def test_without_kueue_we_count_better(name):
    case = asked(name, None)
    assert pod_sets(answer(case, compat=None)) != pod_sets(answer(case, compat="upstream"))


def test_most_jobs_are_built_and_not_refused():
    built = [name for name in BUILT if pod_sets(answer(asked(name, with_label), compat=None))]
    assert len(built) > 0.9 * len(BUILT)
