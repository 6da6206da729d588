"""The status of an MPIJob of v2beta1: its launcher decides, with the reasons of a Job."""

from datetime import UTC, datetime, timedelta

import pytest

from kfp_trainer.runtime_operator.controller.legacy import PodState, decide
from tests.legacy_jobs import ssh_job

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def pod(place: str, phase: str = "Running", **given) -> PodState:
    role, _, index = place.rpartition("-")
    return PodState(role, int(index), f"{place}-abcde", phase, **given)


def failed(place: str, attempt: int = 0, **given) -> PodState:
    return pod(place, "Failed", attempt=attempt, exit_code=1, **given)


WORKERS = (pod("Worker-0"), pod("Worker-1"))
RUN = (pod("Launcher-0"), *WORKERS)


def looked(job, *pods, status=None, after=0):
    return decide(job, status or {}, pods, NOW + timedelta(seconds=after))


def told(decision) -> list[tuple[str, str, str]]:
    return [(each["type"], each["status"], each["reason"]) for each in decision.status["conditions"]]


def newest(decision) -> tuple[str, str]:
    last = decision.status["conditions"][-1]
    return last["reason"], last["message"]


NEVER = {"runPolicy": {"backoffLimit": 1}, "launcher": {"restartPolicy": "Never"}}
OUTCOMES = {
    "it runs when launcher and all workers do": (
        {},
        RUN,
        ("MPIJobRunning", "MPIJob lab/job is running."),
    ),
    "not while a worker is missing": (
        {},
        (pod("Launcher-0"), WORKERS[0], pod("Worker-1", "Pending")),
        ("MPIJobCreated", "MPIJob lab/job is created."),
    ),
    "a launcher that succeeds ends it well, whatever became of a worker": (
        {},
        (pod("Launcher-0", "Succeeded"), WORKERS[0], failed("Worker-1")),
        ("MPIJobSucceeded", "MPIJob lab/job successfully completed."),
    ),
    "a worker that fails ends nothing": (
        {},
        (pod("Launcher-0"), WORKERS[0], failed("Worker-1")),
        ("MPIJobCreated", "MPIJob lab/job is created."),
    ),
    "evicted workers do": (
        {},
        (pod("Launcher-0"), WORKERS[0], failed("Worker-1", evicted=True)),
        ("MPIJobEvicted", "1/2 workers are evicted"),
    ),
    "a launcher that fails is tried again": (
        NEVER,
        (failed("Launcher-0"), pod("Launcher-0", attempt=1), *WORKERS),
        ("MPIJobRunning", "MPIJob lab/job is running."),
    ),
    "until its limit, and then the reason is the Job's": (
        NEVER,
        (failed("Launcher-0"), failed("Launcher-0", 1), *WORKERS),
        ("BackoffLimitExceeded", "Job has reached the specified backoff limit"),
    ),
    "with what the last pod says of itself": (
        NEVER,
        (failed("Launcher-0"), failed("Launcher-0", 1, reason="Evicted", message="disk"), *WORKERS),
        ("BackoffLimitExceeded/Evicted", "Job has reached the specified backoff limit: disk"),
    ),
    "six tries where the job says nothing": (
        {},
        (pod("Launcher-0", restarts=6), *WORKERS),
        ("BackoffLimitExceeded", "Job has reached the specified backoff limit"),
    ),
    "a success after the last try is a success": (
        NEVER,
        (failed("Launcher-0"), failed("Launcher-0", 1), pod("Launcher-0", "Succeeded", attempt=2), *WORKERS),
        ("MPIJobSucceeded", "MPIJob lab/job successfully completed."),
    ),
}


@pytest.mark.parametrize(("spec", "pods", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(spec, pods, expected):
    assert newest(looked(ssh_job(**spec), *pods)) == expected


def test_a_deadline_counts_from_the_start_and_stops_the_launcher():
    job = ssh_job(runPolicy={"activeDeadlineSeconds": 10})
    first = looked(job, *RUN)
    assert first.look_again == NOW + timedelta(seconds=10)
    late = looked(job, *RUN, status=first.status, after=10)
    assert newest(late) == ("DeadlineExceeded", "Job was active longer than specified deadline")
    assert late.status["completionTime"] == "2026-11-01T00:00:10Z"
    assert late.wanted.held == {("Launcher", 0)}


CLEANED = {"None": "runs", "Running": "rests", "All": "rests"}


@pytest.mark.parametrize(("policy", "jobset"), CLEANED.items())
def test_the_launcher_stays_to_be_read_whatever_is_cleaned_up(policy, jobset):
    job = ssh_job(runPolicy={"cleanPodPolicy": policy})
    assert looked(job, pod("Launcher-0", "Succeeded"), *WORKERS).wanted.jobset == jobset


def test_a_job_that_ended_unseen_says_that_it_never_ran_and_ends_in_its_outcome():
    done = looked(ssh_job(), pod("Launcher-0", "Succeeded"), *WORKERS)
    assert told(done) == [
        ("Created", "True", "MPIJobCreated"),
        ("Running", "False", "MPIJobRunning"),
        ("Succeeded", "True", "MPIJobSucceeded"),
    ]
    assert done.status["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}


def test_suspended_and_resumed():
    first = looked(ssh_job(), *RUN)
    rests = looked(ssh_job(runPolicy={"suspend": True}), status=first.status, after=5)
    assert told(rests)[1:] == [
        ("Running", "False", "MPIJobSuspended"),
        ("Suspended", "True", "MPIJobSuspended"),
    ]
    assert newest(rests)[1] == "MPIJob suspended"
    again = looked(ssh_job(), status=rests.status, after=9)
    assert newest(again) == ("MPIJobResumed", "MPIJob resumed")
    assert again.status["startTime"] == "2026-11-01T00:00:09Z"


def test_failed_workers_are_held_and_the_launcher_is_not():
    decision = looked(ssh_job(), failed("Launcher-0"), failed("Worker-0"), WORKERS[1])
    assert decision.wanted.held == {("Worker", 0)}
