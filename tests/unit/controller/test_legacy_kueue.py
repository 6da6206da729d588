"""Kueue's rules for the older kinds: how a job waits, is let in, is taken out, and is seen to be over."""

from datetime import UTC, datetime, timedelta

import pytest

from kfp_trainer.runtime_operator.api.legacy import read_legacy
from kfp_trainer.runtime_operator.controller.legacy import PodState, decide
from kfp_trainer.runtime_operator.render.legacy import render_legacy
from tests.legacy_jobs import legacy_document

NOW = datetime(2026, 11, 1, tzinfo=UTC)
QUEUE = "kueue.x-k8s.io/queue-name"
LEADS = {"TFJob": "Chief", "MPIJob": "Launcher", "JAXJob": "Worker"}
GIVEN = {
    "nodeSelector": {"pool": "a"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "schedulingGates": [{"name": "kueue.x-k8s.io/topology"}],
}
"""what Kueue writes into the template of a role that it lets in"""
MARKS = {"labels": {"kueue.x-k8s.io/podset": "worker"}, "annotations": {"kueue.x-k8s.io/workload": "w"}}
KINDS = ["JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"]


def queued(kind, *, suspend, given=None, marks=None):
    """A job of a queue: one that leads and two workers, or three where nobody leads."""
    lead = LEADS.get(kind, "Master")
    workers = {"replicas": 2, "pod": given or {}, "metadata": marks}
    roles = {lead: {}, "Worker": workers} if lead != "Worker" else {"Worker": {**workers, "replicas": 3}}
    document = legacy_document(kind, roles, runPolicy={"suspend": suspend})
    return read_legacy({**document, "metadata": {**document["metadata"], "labels": {QUEUE: "team"}}})


def pods(job, phase="Running"):
    return [
        PodState(role.name, index, f"{role.lower}-{index}", phase, exit_code=0)
        for role in job.roles
        for index in range(role.replicas)
    ]


def true(status):
    return [each["type"] for each in status["conditions"] if each["status"] == "True"]


def is_active(status):
    """Whether Kueue holds the room of a job that it has taken out."""
    return any(each.get("active") for each in (status.get("replicaStatuses") or {}).values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_waits_is_let_in_taken_out_and_let_in_again(kind):
    waiting, runs = queued(kind, suspend=True), queued(kind, suspend=False)
    decision = decide(waiting, {}, [], NOW)
    assert decision.wanted.jobset == "goes" and true(decision.status) == ["Created", "Suspended"]
    decision = decide(runs, decision.status, [], NOW)
    assert decision.wanted.jobset == "runs" and "Suspended" not in true(decision.status)
    decision = decide(runs, decision.status, pods(runs), NOW)
    assert "Running" in true(decision.status) and is_active(decision.status)  # so its pods are ready to Kueue
    decision = decide(waiting, decision.status, pods(runs), NOW + timedelta(seconds=1))
    assert decision.wanted.jobset == "goes" and not is_active(decision.status)
    assert true(decision.status) == ["Created", "Suspended"]
    assert decide(runs, decision.status, [], NOW).wanted.jobset == "runs"


@pytest.mark.parametrize("kind", KINDS)
def test_pods_are_as_kueue_wrote_them_when_it_let_the_job_in(kind):
    job = queued(kind, suspend=False, given=GIVEN, marks=MARKS)
    jobset = render_legacy(job).find("JobSet")
    (worker,) = (
        each["template"]["spec"]["template"]
        for each in jobset["spec"]["replicatedJobs"]
        if each["name"]
        == ("worker-n" if kind == "PaddleJob" and "Master" not in str(job.roles) else "worker")
    )
    assert {name: worker["spec"][name] for name in GIVEN} == GIVEN
    assert worker["metadata"]["labels"].items() >= MARKS["labels"].items()
    assert worker["metadata"]["annotations"] == MARKS["annotations"]
    assert QUEUE not in jobset["metadata"]["labels"], "Kueue would queue the JobSet, too"


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_that_is_over_says_how_once(kind):
    job = queued(kind, suspend=False)
    status = decide(job, {}, pods(job, "Succeeded"), NOW).status
    assert true(status) == ["Created", "Succeeded"] and not is_active(status)
    failed = [*pods(job)[1:], PodState(job.roles[0].name, 0, "x", "Failed", exit_code=1)]
    never = legacy_document(kind, {LEADS.get(kind, "Master"): {"restartPolicy": "Never"}})
    assert true(decide(read_legacy(never), {}, failed, NOW).status) == ["Created", "Failed"]


@pytest.mark.parametrize("kind", KINDS)
def test_pod_sets_are_the_roles(kind):
    job = queued(kind, suspend=False)
    assert {role.lower: role.replicas for role in job.roles} == {
        each.name: each.count for each in render_legacy(job).pod_sets
    }
