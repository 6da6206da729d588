from dataclasses import replace

from kfp_trainer.runtime_operator.local import status as rules
from kfp_trainer.runtime_operator.local.semantics.model import (
    Condition,
    JobSetStatus,
    ReplicatedJobStatus,
    State,
)

STATE = State(
    {"metadata": {"name": "bert"}, "spec": {"replicatedJobs": [{"name": "node", "replicas": 2}]}},
    JobSetStatus(replicated_jobs=(ReplicatedJobStatus("node", ready=1),)),
)


def observe(before: dict, state: State, *, cause: str = "", now: float = 100.0) -> dict:
    return rules.observe(before, state, cause=cause, now=now)


def ended(kind: str) -> State:
    end = Condition(kind, "True", "Because", "as it was", since=50.0)
    return replace(STATE, status=replace(STATE.status, conditions=(end,)))


def test_a_job_that_runs_has_no_condition_as_the_sdk_wants_it():
    assert "conditions" not in observe({}, STATE)


def test_jobs_are_counted_as_the_jobset_counts_them():
    node = {"name": "node", "ready": 1, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
    assert observe({}, STATE)["jobsStatus"] == [node]


def test_it_has_started_when_all_its_jobs_were_ready_once():
    assert "startTime" not in observe({}, STATE)
    ready = replace(STATE.status, replicated_jobs=(ReplicatedJobStatus("node", ready=1, succeeded=1),))
    assert observe({}, replace(STATE, status=ready))["startTime"] == "1970-01-01T00:01:40Z"
    assert observe({"startTime": "then"}, replace(STATE, status=ready))["startTime"] == "then"


def test_a_good_end_is_copied_with_its_time():
    found = observe({}, ended("Completed"))
    assert found["conditions"] == [
        {
            "type": "Complete",
            "status": "True",
            "reason": "Because",
            "message": "as it was",
            "lastTransitionTime": "1970-01-01T00:00:50Z",
        }
    ]
    assert found["completionTime"] == "1970-01-01T00:00:50Z"


def test_a_bad_end_says_who_died():
    found = observe({}, ended("Failed"), cause="pod a: exit code 3")
    assert rules.find(found, "Failed")["message"] == "as it was: pod a: exit code 3"


def test_terminal_is_terminal():
    cancelled = rules.finish({}, "Failed", reason="Cancelled", message="enough", now=10.0)
    found = observe(cancelled, ended("Completed"))
    assert rules.find(found, "Failed")["reason"] == "Cancelled"
    assert not rules.holds(found, "Complete")


def test_progress_stays():
    assert observe({"trainerStatus": {"progressPercentage": 5}}, STATE)["trainerStatus"] == {
        "progressPercentage": 5
    }


def test_suspended_and_resumed():
    asleep = replace(STATE, jobset={**STATE.jobset, "spec": {**STATE.spec, "suspend": True}})
    rests = observe({}, asleep)
    assert rules.holds(rests, "Suspended")
    again = observe(rests, STATE, now=200.0)
    assert rules.find(again, "Suspended")["lastTransitionTime"] == "1970-01-01T00:03:20Z"
    assert rules.find(again, "Suspended")["reason"] == "Resumed"
    job = {"spec": {"activeDeadlineSeconds": 7}}
    assert rules.deadline(job, rests, 0.0) is None
    assert rules.deadline(job, again, 0.0).at == 207.0


def test_a_deadline_counts_from_the_creation_and_ends_with_the_job():
    job = {"spec": {"activeDeadlineSeconds": 7}}
    assert rules.deadline(job, {}, 100.0).at == 107.0
    assert rules.deadline({"spec": {}}, {}, 100.0) is None
    assert rules.deadline(job, observe({}, ended("Completed")), 100.0) is None


def test_a_job_whose_pods_never_all_run_has_a_deadline_too():
    job = {"spec": {"activeDeadlineSeconds": 7, "startDeadlineSeconds": 3}}
    assert rules.deadline(job, {}, 100.0).reason == "StartDeadlineExceeded"
    assert rules.deadline(job, {"startTime": "then"}, 100.0).reason == "DeadlineExceeded"


def test_a_job_with_a_time_to_live_goes_after_its_end():
    job = {"spec": {"ttlSecondsAfterFinished": 30}}
    assert rules.expires(job, {}) is None
    assert rules.expires(job, {"completionTime": "1970-01-01T00:01:40Z"}) == 130.0
    assert rules.expires({"spec": {}}, {"completionTime": "1970-01-01T00:01:40Z"}) is None
