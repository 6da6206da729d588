"""One look at a job of an older kind: its status, what stays of its objects, and when to look again.

The recordings of tests/conformance_v1 hold most of it; here stands what v1 gets wrong, and what they do not
show.
"""

from datetime import UTC, datetime, timedelta

import pytest

from kfp_trainer.runtime_operator.controller.legacy import PodState, decide
from kfp_trainer.runtime_operator.controller.legacy.foreign import clash, in_the_way
from kfp_trainer.runtime_operator.render.legacy import render_legacy
from tests.legacy_jobs import legacy_job

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TWO = {"Master": {}, "Worker": {"replicas": 2}}


def pod(place: str, phase: str = "Running", **given) -> PodState:
    role, _, index = place.rpartition("-")
    return PodState(role, int(index), f"{place}-abcde", phase, **given)


def looked(job, *pods, status=None, after=0):
    return decide(job, status or {}, pods, NOW + timedelta(seconds=after))


def true(decision) -> list[str]:
    return [each["type"] for each in decision.status["conditions"] if each["status"] == "True"]


def newest(decision) -> tuple[str, str]:
    last = decision.status["conditions"][-1]
    return last["reason"], last["message"]


def ended(place: str, code: int, **given) -> PodState:
    return pod(place, "Failed" if code else "Succeeded", exit_code=code, **given)


OUTCOMES = {
    "a success stands, whatever failed in the same moment": (
        legacy_job("TFJob", {"Chief": {}, "Worker": {}}),
        [ended("Chief-0", 0), ended("Worker-0", 1)],
        "TFJobSucceeded",
    ),
    "a permanent exit code ends a job although its master has succeeded": (
        legacy_job("PyTorchJob", {"Master": {}, "Worker": {"restartPolicy": "ExitCode"}}),
        [ended("Master-0", 0), ended("Worker-0", 1)],
        "PyTorchJobFailed",
    ),
    "OnFailure of an XGBoostJob restarts": (
        legacy_job("XGBoostJob", {"Master": {}, "Worker": {"restartPolicy": "OnFailure"}}),
        [pod("Master-0"), ended("Worker-0", 1)],
        "XGBoostJobRestarting",
    ),
    "a mishap under ExitCode restarts a worker of an MPIJob": (
        legacy_job("MPIJob", {"Launcher": {}, "Worker": {"replicas": 1, "restartPolicy": "ExitCode"}}),
        [pod("Launcher-0"), ended("Worker-0", 137)],
        "MPIJobRestarting",
    ),
    "a failed launcher says so once": (
        legacy_job("MPIJob", {"Launcher": {}}),
        [ended("Launcher-0", 1)],
        "MPIJobFailed",
    ),
    "an evicted worker of an MPIJob is told apart": (
        legacy_job("MPIJob", {"Launcher": {}, "Worker": {"replicas": 2}}),
        [pod("Launcher-0"), pod("Worker-0"), pod("Worker-1", "Failed", evicted=True)],
        "MPIJobEvicted",
    ),
    "an eviction is a mishap under ExitCode": (
        legacy_job("PyTorchJob", {"Master": {"restartPolicy": "ExitCode"}}),
        [pod("Master-0", "Failed", evicted=True)],
        "PyTorchJobRestarting",
    ),
    "parameter servers alone run": (
        legacy_job("TFJob", {"PS": {"replicas": 2}}),
        [pod("PS-0"), pod("PS-1")],
        "TFJobRunning",
    ),
    "and succeed": (
        legacy_job("TFJob", {"PS": {"replicas": 2}}),
        [ended("PS-0", 0), ended("PS-1", 0)],
        "TFJobSucceeded",
    ),
    "the job waits for a chief that restarts before it fails for a worker": (
        legacy_job("TFJob", {"Chief": {"restartPolicy": "ExitCode"}, "Worker": {}}),
        [ended("Chief-0", 130), ended("Worker-0", 1)],
        "TFJobRestarting",
    ),
    "a role without replicas neither counts nor fails": (
        legacy_job("XGBoostJob", {"Master": {}, "Worker": {"replicas": 0}}),
        [pod("Master-0")],
        "XGBoostJobRunning",
    ),
    "dynamic workers may fail": (
        legacy_job("TFJob", {"PS": {}, "Worker": {"replicas": 2}}, enableDynamicWorker=True),
        [pod("PS-0"), pod("Worker-0"), ended("Worker-1", 1)],
        "TFJobRunning",
    ),
}


@pytest.mark.parametrize(("job", "pods", "reason"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(job, pods, reason):
    assert newest(looked(job, *pods))[0] == reason


def test_every_failure_says_when():
    job = legacy_job(
        "JAXJob", {"Worker": {"restartPolicy": "ExitCode"}}, runPolicy={"ttlSecondsAfterFinished": 5}
    )
    failed = looked(job, ended("Worker-0", 1))
    assert failed.status["completionTime"] == "2026-11-01T00:00:00Z"
    assert failed.look_again == NOW + timedelta(seconds=5)
    assert looked(job, ended("Worker-0", 1), status=failed.status, after=5).delete_job


def test_terminal_is_terminal():
    job = legacy_job("PyTorchJob", TWO)
    done = looked(job, ended("Master-0", 0), pod("Worker-0"), pod("Worker-1"))
    later = looked(
        job, ended("Master-0", 0), ended("Worker-0", 1), pod("Worker-1"), status=done.status, after=9
    )
    assert (true(later), later.status) == (["Created", "Succeeded"], done.status)


def test_tries_count_whether_in_place_or_with_a_new_pod():
    job = legacy_job("PyTorchJob", {"Master": {"restartPolicy": "ExitCode"}}, runPolicy={"backoffLimit": 2})
    once = [ended("Master-0", 137), pod("Master-0", attempt=1)]
    assert newest(looked(job, *once))[0] == "PyTorchJobRunning"
    twice = [once[0], pod("Master-0", attempt=1, restarts=1)]
    assert (
        newest(looked(job, *twice))[1]
        == "Job job has failed because it has reached the specified backoff limit"
    )


def test_the_deadline_is_looked_at_when_it_passes():
    job = legacy_job("JAXJob", {"Worker": {}}, runPolicy={"activeDeadlineSeconds": 10})
    first = looked(job, pod("Worker-0"))
    assert first.look_again == NOW + timedelta(seconds=10)
    late = looked(job, pod("Worker-0"), status=first.status, after=10)
    assert newest(late)[1] == "Job job has failed because it was active longer than specified deadline"


CLEANED = {
    "None leaves all, and nothing failed comes back": ("None", ("runs", None, {("Worker", 0)})),
    "Running leaves what has ended": ("Running", ("rests", {("Worker", 0)}, set())),
    "All leaves nothing": ("All", ("goes", set(), set())),
}


@pytest.mark.parametrize(("policy", "expected"), CLEANED.values(), ids=CLEANED)
def test_cleaning_up(policy, expected):
    roles = {"Master": {}, "Worker": {"restartPolicy": "Never"}}
    job = legacy_job("PyTorchJob", roles, runPolicy={"cleanPodPolicy": policy})
    wanted = looked(job, pod("Master-0"), ended("Worker-0", 1)).wanted
    services = None if wanted.services is None else set(wanted.services)
    assert (wanted.jobset, services, set(wanted.held)) == expected
    assert not wanted.pod_group


def test_limits_keep_to_the_policy_too():
    job = legacy_job(
        "JAXJob", {"Worker": {}}, runPolicy={"activeDeadlineSeconds": 1, "cleanPodPolicy": "None"}
    )
    first = looked(job, pod("Worker-0"))
    assert looked(job, pod("Worker-0"), status=first.status, after=2).wanted.jobset == "runs"


def test_a_failed_replica_that_is_not_to_come_back_is_held_before_the_job_ends():
    job = legacy_job("TFJob", {"PS": {}, "Worker": {"replicas": 2}}, enableDynamicWorker=True)
    assert looked(job, pod("Worker-0"), ended("Worker-1", 1)).wanted.held == {("Worker", 1)}


def test_suspended_and_resumed():
    rests = legacy_job("PyTorchJob", TWO, runPolicy={"suspend": True})
    runs = legacy_job("PyTorchJob", TWO)
    running = looked(runs, pod("Master-0"), pod("Worker-0"), pod("Worker-1"))
    resting = looked(rests, pod("Master-0"), status=running.status, after=5)
    assert (true(resting), resting.wanted.jobset) == (["Created", "Suspended"], "goes")
    resumed = looked(runs, status=resting.status, after=9)
    assert resumed.status["startTime"] == "2026-11-01T00:00:09Z"
    assert [event.reason for event in resumed.events] == ["PyTorchJobResumed"]


def test_a_gang_that_is_not_let_in_has_no_pods_and_no_start():
    waits = decide(legacy_job("JAXJob", {"Worker": {}}), {}, [], NOW, is_placed=False)
    assert (waits.wanted.jobset, waits.wanted.pod_group, "startTime" in waits.status) == (
        "rests",
        True,
        False,
    )


def test_a_job_of_another_manager_is_left_alone():
    job = legacy_job("JAXJob", {"Worker": {}}, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"})
    assert (looked(job).wanted, looked(job).status) == (None, {})


def test_the_same_once_more_tells_nothing():
    job = legacy_job("PyTorchJob", {"Master": {}})
    first = looked(job, ended("Master-0", 1))
    assert [event.reason for event in first.events] == ["PyTorchJobRestarting"]
    assert looked(job, ended("Master-0", 1), status=first.status).events == ()


def test_an_object_of_somebody_else_is_in_the_way():
    job = legacy_job("PyTorchJob", {"Master": {}})
    plan = render_legacy(job)
    foreign = {"kind": "Service", "metadata": {"name": "job-master-0"}}
    found = in_the_way(job, plan.objects, {("Service", "job-master-0"): foreign})
    assert clash(job, found).message == (
        'Resource "job-master-0" of PyTorchJobKind "Service" already exists and is not managed by PyTorchJob'
    )
    assert in_the_way(job, plan.objects, {("Service", "job-master-0"): plan.objects[0]}) is None


def test_a_job_without_replicas_has_succeeded():
    assert newest(looked(legacy_job("JAXJob", {"Worker": {"replicas": 0}})))[0] == "JAXJobSucceeded"


def test_a_suspended_job_keeps_what_had_ended():
    job = legacy_job("PyTorchJob", TWO)
    before = looked(job, pod("Master-0"), ended("Worker-0", 0), pod("Worker-1")).status
    rests = legacy_job("PyTorchJob", TWO, runPolicy={"suspend": True})
    counted = looked(rests, status=before, after=1).status["replicaStatuses"]
    selector = {each: counted[each].pop("selector") for each in counted}
    assert counted == {"Master": {}, "Worker": {"succeeded": 1}}
    assert selector["Worker"].endswith("replica-type=worker")


def test_a_deadline_of_0_ends_a_job_that_has_begun():
    job = legacy_job("TFJob", {"Worker": {}}, runPolicy={"activeDeadlineSeconds": 0})
    first = looked(job)
    assert true(first) == ["Created"] and first.look_again == NOW
    assert true(looked(job, status=first.status)) == ["Created", "Failed"]


RESTARTS = {
    "job job is restarting because Worker replica(s) failed.": [ended("Worker-0", 1), pod("Worker-1")],
    "PyTorchJob job is restarting because 1 Worker replica(s) failed.": [
        pod("Master-0"),
        ended("Worker-0", 1),
        pod("Worker-1"),
    ],
}


@pytest.mark.parametrize("message", RESTARTS)
def test_a_restart_is_told_in_the_words_of_the_rule_that_is_heard(message):
    decision = looked(legacy_job("PyTorchJob", TWO), *RESTARTS[message])
    assert newest(decision) == ("PyTorchJobRestarting", message)


DELETED = {
    "PyTorchJobRestarting": legacy_job("PyTorchJob", {"Worker": {"replicas": 2}}),
    "JAXJobFailed": legacy_job("JAXJob", {"Worker": {"replicas": 2}}),
    "TFJobFailed": legacy_job("TFJob", {"Worker": {"replicas": 2}}),
}


@pytest.mark.parametrize("reason", DELETED)
def test_a_running_pod_that_somebody_deletes_has_failed(reason):
    gone = pod("Worker-1", "Failed", deleted=True)
    decision = looked(DELETED[reason], pod("Worker-0"), gone)
    assert newest(decision)[0] == reason


def test_a_deleted_pod_is_no_try():
    job = legacy_job("PyTorchJob", {"Worker": {"replicas": 2}}, runPolicy={"backoffLimit": 1})
    decision = looked(job, pod("Worker-0"), pod("Worker-1", "Failed", deleted=True))
    assert newest(decision)[0] == "PyTorchJobRestarting"


def test_a_permanent_exit_code_ends_a_job_of_dynamic_workers_too():
    workers = {"PS": {}, "Worker": {"replicas": 2, "restartPolicy": "ExitCode"}}
    job = legacy_job("TFJob", workers, enableDynamicWorker=True)
    assert newest(looked(job, pod("PS-0"), pod("Worker-0"), ended("Worker-1", 1)))[0] == "TFJobFailed"
    assert newest(looked(job, pod("PS-0"), pod("Worker-0"), ended("Worker-1", 137)))[0] == "TFJobRunning"
