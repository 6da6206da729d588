"""The controller's decisions, played through: whatever happens to a job, it settles, and its end is its end.

A cluster of a few dicts does what each step says. Between the steps anything may happen: JobSet reports,
somebody suspends, resumes, deletes or takes over the JobSet, time passes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.conditions import is_finished
from kfp_trainer.runtime_operator.controller.next_step import NextStep, next_step
from kfp_trainer.runtime_operator.render.dry_run import read_job, read_runtime
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.render import render
from tests.counts import SOAK, count

START = datetime(2026, 1, 1, tzinfo=UTC)
VERSION = "trainer.kubeflow.org/v1alpha1"
LABELS = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
POD = {"containers": [{"name": "node", "image": "i", "resources": {"requests": {"cpu": 1}}}]}
JOB = {"name": "node", "template": {"metadata": LABELS, "spec": {"template": {"spec": POD}}}}
RUNTIME = api.check(
    {
        "apiVersion": VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {
            "mlPolicy": {"torch": {}, "numNodes": 2},
            "podGroupPolicy": {"volcano": {}},
            "template": {"spec": {"replicatedJobs": [JOB]}},
        },
    }
).stored


class Cluster:
    """A job, what exists beside it, and the time."""

    def __init__(self, **spec: Any) -> None:
        self.now = START
        self.gone = False
        self.existing: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.runtime = read_runtime(RUNTIME)
        metadata = {
            "name": "bert",
            "namespace": "lab",
            "uid": "u",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        }
        sent = {"runtimeRef": {"name": "torch"}, **spec}
        job = {"apiVersion": VERSION, "kind": "TrainJob", "metadata": metadata, "spec": sent}
        self.job: dict[str, Any] = api.check(job).stored

    def step(self) -> NextStep:
        """One pass of the controller, done."""
        before = copy.deepcopy((self.job, self.existing))

        def build() -> Any:
            return render(read_job(self.job), self.runtime, Facts(existing=self.existing))

        step = next_step(self.job, self.existing, build, now=self.now)
        assert (self.job, self.existing) == before, "deciding changes nothing"
        self.do(step)
        return step

    def do(self, step: NextStep) -> None:
        """What an API server makes of the step."""
        for each in step.apply:
            key = (each["kind"], each["metadata"]["name"])
            old = self.existing.get(key, {})
            self.existing[key] = {**each, **({"status": old["status"]} if "status" in old else {})}
        for each in step.delete:
            self.gone |= each["kind"] == "TrainJob"
            self.existing.pop((each["kind"], each["metadata"]["name"]), None)
        if step.status is not None:
            self.job = {**self.job, "status": step.status}

    def jobset(self) -> dict[str, Any] | None:
        """The JobSet, to be changed."""
        held = self.existing.get(("JobSet", "bert"))
        if held is None:
            return None
        self.existing["JobSet", "bert"] = changed = copy.deepcopy(dict(held))
        return changed

    @property
    def ends(self) -> list[tuple[str, str]]:
        """How the job ended, so far as its status says."""
        conditions = self.job.get("status", {}).get("conditions") or ()
        return [
            (each["type"], each["reason"]) for each in conditions if each["type"] in ("Complete", "Failed")
        ]

    @property
    def finished(self) -> bool:
        return is_finished(self.job.get("status", {}).get("conditions") or ())


def report(cluster: Cluster, **counts: int) -> None:
    """JobSet counts its Jobs."""
    if (jobset := cluster.jobset()) is not None:
        zero = {"ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
        jobset.setdefault("status", {})["replicatedJobsStatus"] = [{"name": "node", **zero, **counts}]


def end(cluster: Cluster, type_: str, reason: str) -> None:
    """JobSet says how it ended; once."""
    if (jobset := cluster.jobset()) is not None:
        conditions = jobset.setdefault("status", {}).setdefault("conditions", [])
        if not conditions:
            conditions.append({"type": type_, "status": "True", "reason": reason, "message": "m"})


def suspend(cluster: Cluster, rests: bool) -> None:
    cluster.job = {**cluster.job, "spec": {**cluster.job["spec"], "suspend": rests}}


def take_over(cluster: Cluster) -> None:
    """A namesake's JobSet stands where ours was."""
    if (jobset := cluster.jobset()) is not None:
        jobset["metadata"]["ownerReferences"] = [{"uid": "another", "controller": True}]


def lose(cluster: Cluster) -> None:
    cluster.existing.pop(("JobSet", "bert"), None)


def wait(cluster: Cluster, minutes: int) -> None:
    cluster.now += timedelta(minutes=minutes)


HAPPENINGS = st.one_of(
    st.sampled_from(
        [(report, {"active": 1}), (report, {"active": 1, "ready": 1}), (report, {"succeeded": 1})]
    ),
    st.sampled_from([(end, {"type_": "Completed", "reason": "AllJobsCompleted"})]),
    st.sampled_from([(end, {"type_": "Failed", "reason": "FailedJobs"})]),
    st.sampled_from([(suspend, {"rests": True}), (suspend, {"rests": False})]),
    st.sampled_from([(lose, {}), (take_over, {}), (wait, {"minutes": 1}), (wait, {"minutes": 30})]),
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "suspend": st.booleans(),
        "activeDeadlineSeconds": st.sampled_from([60, 3600]),
        "startDeadlineSeconds": st.sampled_from([60, 3600]),
        "ttlSecondsAfterFinished": st.sampled_from([0, 3600]),
    },
)


@settings(max_examples=count(2000, sampled=150), deadline=None, derandomize=not SOAK)
@given(SPECS, st.lists(HAPPENINGS, max_size=12))
def test_whatever_happens_it_settles_and_its_end_is_its_end(spec: dict[str, Any], story: list[Any]) -> None:
    cluster = Cluster(**spec)
    ended: list[tuple[str, str]] = []
    for happens, details in [(wait, {"minutes": 0}), *story]:
        happens(cluster, **details)
        cluster.step()
        status, existing = cluster.job.get("status"), dict(cluster.existing)
        step = cluster.step()
        assert cluster.job.get("status") == status, "a second look changes the status"
        assert cluster.existing == existing, "a second pass writes something"
        assert not any(each.get("kind") != "TrainJob" for each in step.delete), "a deletion is never done"
        assert not ended or cluster.ends == ended, "an end is taken back"
        ended = cluster.ends
        check(cluster, spec)


def check(cluster: Cluster, spec: dict[str, Any]) -> None:
    """What holds after every pass."""
    assert len(cluster.ends) <= 1, "a job ends once"
    group = cluster.existing.get(("PodGroup", "bert"))
    rests = cluster.job["spec"].get("suspend", False)
    assert group is None or not (cluster.finished or rests), "a gang reserves room for nobody"
    if cluster.ends and cluster.ends[0][1] in ("DeadlineExceeded", "StartDeadlineExceeded"):
        held = cluster.existing.get(("JobSet", "bert"))
        assert held is None or held["metadata"]["ownerReferences"][0]["uid"] != "u", (
            "it runs past its deadline"
        )
    if spec.get("ttlSecondsAfterFinished") == 0 and cluster.finished:
        assert cluster.gone, "its time to live is over"
    if (
        not cluster.finished
        and not rests
        and "activeDeadlineSeconds" not in spec
        and "startDeadlineSeconds" not in spec
    ):
        assert ("JobSet", "bert") in cluster.existing, "a job that should run has no JobSet"
