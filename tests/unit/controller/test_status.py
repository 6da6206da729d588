"""What a TrainJob says of itself, given its JobSet."""

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.controller.status import fail, observe
from kfp_trainer.runtime_operator.render.registry import end_of

NOW = datetime(2026, 5, 1, tzinfo=UTC)
AT_NOW = "2026-05-01T00:00:00Z"
BEFORE = "2026-04-01T00:00:00Z"


def job(status=None, **spec):
    return {"metadata": {"name": "bert"}, "spec": spec, **({"status": status} if status else {})}


def counts(name="node", **numbers):
    return {"name": name, "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0, **numbers}


def jobset(*told, conditions=(), replicas=1):
    names = [each["name"] for each in told] or ["node"]
    return {
        "kind": "JobSet",
        "spec": {"replicatedJobs": [{"name": name, "replicas": replicas} for name in names]},
        "status": {"replicatedJobsStatus": list(told), "conditions": list(conditions)},
    }


def said(type_, status="True", reason="R", message="m", since=BEFORE):
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


COMPLETED = said("Completed", reason="AllJobsCompleted", message="jobset completed successfully")
COMPLETE = {**COMPLETED, "type": "Complete"}
FAILED = said("Failed", reason="FailedJobs", message="jobset failed")
IS_SUSPENDED = said("Suspended", reason="Suspended", message="TrainJob is suspended")

CASES = {
    "no JobSet yet, nothing to say": (job(), None, {}),
    "a JobSet that has said nothing": (job(), {"kind": "JobSet", "spec": {}}, {}),
    "a suspended job says so": (
        job(suspend=True),
        None,
        {"conditions": ({**IS_SUSPENDED, "lastTransitionTime": AT_NOW},)},
    ),
    "a job that stays suspended keeps the time": (
        job({"conditions": [IS_SUSPENDED]}, suspend=True),
        None,
        {"conditions": (IS_SUSPENDED,)},
    ),
    "a resumed job says so": (
        job({"conditions": [IS_SUSPENDED]}),
        None,
        {"conditions": (said("Suspended", "False", "Resumed", "TrainJob is resumed", AT_NOW),)},
    ),
    "the counts are the JobSet's, and all pods run": (
        job(),
        jobset(counts(ready=1, active=1)),
        {"jobsStatus": (counts(ready=1, active=1),), "startTime": AT_NOW},
    ),
    "pods that are not ready have not started": (
        job(),
        jobset(counts(active=1)),
        {"jobsStatus": (counts(active=1),)},
    ),
    "an initializer that is done and a trainer that runs have all run": (
        job(),
        jobset(counts("dataset-initializer", succeeded=1), counts(ready=1)),
        {"jobsStatus": (counts("dataset-initializer", succeeded=1), counts(ready=1)), "startTime": AT_NOW},
    ),
    "a trainer of which nothing is counted has not started": (
        job(),
        {
            "kind": "JobSet",
            "spec": {"replicatedJobs": [{"name": "dataset-initializer"}, {"name": "node"}]},
            "status": {"replicatedJobsStatus": [counts("dataset-initializer", succeeded=1)]},
        },
        {"jobsStatus": (counts("dataset-initializer", succeeded=1),)},
    ),
    "the start is told once": (
        job({"startTime": BEFORE}),
        jobset(counts(ready=1)),
        {"startTime": BEFORE, "jobsStatus": (counts(ready=1),)},
    ),
    "a completed JobSet completes the job, with its words and its time": (
        job(),
        jobset(conditions=[COMPLETED]),
        {"conditions": (COMPLETE,), "completionTime": BEFORE},
    ),
    "a failed JobSet fails the job": (
        job(),
        jobset(conditions=[FAILED]),
        {"conditions": (FAILED,), "completionTime": BEFORE},
    ),
    "a failure counts more than a success": (
        job(),
        jobset(conditions=[COMPLETED, FAILED]),
        {"conditions": (FAILED,), "completionTime": BEFORE},
    ),
    "an end without a time ends now": (
        job(),
        jobset(conditions=[{"type": "Completed", "status": "True"}]),
        {
            "conditions": ({**said("Complete", reason="", message=""), "lastTransitionTime": AT_NOW},),
            "completionTime": AT_NOW,
        },
    ),
    "what a JobSet says of something else, or says is not so, does not matter": (
        job(),
        jobset(conditions=[said("StartupPolicyCompleted"), said("Failed", "False")]),
        {},
    ),
    "the JobSet of a completed job is gone and it stays complete": (
        job({"conditions": [COMPLETE], "completionTime": BEFORE, "jobsStatus": [counts(succeeded=1)]}),
        None,
        {"conditions": (COMPLETE,), "completionTime": BEFORE, "jobsStatus": [counts(succeeded=1)]},
    ),
    "the JobSet of a job that has not ended is gone, and so are its counts": (
        job({"jobsStatus": [counts(ready=1)], "startTime": BEFORE}),
        None,
        {"startTime": BEFORE},
    ),
    "a failed job stays failed whatever its JobSet says later": (
        job({"conditions": [FAILED], "completionTime": BEFORE}),
        jobset(conditions=[COMPLETED]),
        {"conditions": (FAILED,), "completionTime": BEFORE},
    ),
    "the end of a job of an older release is dated by its condition": (
        job({"conditions": [COMPLETE]}),
        None,
        {"conditions": (COMPLETE,), "completionTime": BEFORE},
    ),
    "a job that is suspended after its end is both": (
        job({"conditions": [COMPLETE], "completionTime": BEFORE}, suspend=True),
        None,
        {"conditions": (COMPLETE, {**IS_SUSPENDED, "lastTransitionTime": AT_NOW}), "completionTime": BEFORE},
    ),
    "what the trainer reported stays": (
        job({"trainerStatus": {"progressPercentage": 40}}),
        jobset(counts(active=1)),
        {"trainerStatus": {"progressPercentage": 40}, "jobsStatus": (counts(active=1),)},
    ),
}


def look(job, jobset, now=NOW, gang=None):
    return observe(job, jobset, gang, end_of(job, [] if jobset is None else [jobset]), now=now)


@pytest.mark.parametrize("sentence", CASES)
def test_observe(sentence):
    given, seen, want = CASES[sentence]
    assert look(given, seen) == want


@pytest.mark.parametrize("sentence", CASES)
def test_a_second_look_changes_nothing(sentence):
    given, seen, _ = CASES[sentence]
    first = look(given, seen)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert look({**given, "status": first}, seen, later) == first


GANGS = {
    "no gang": (None, False),
    "a gang that waits": ({"status": {"phase": "Inqueue"}}, False),
    "a gang that runs, as many as it must be": ({"status": {"phase": "Running"}}, True),
}


@pytest.mark.parametrize(
    "mark",
    [
        {"labels": {"scheduling.x-k8s.io/pod-group": "b"}},
        {"annotations": {"scheduling.k8s.io/group-name": "b"}},
    ],
)
@pytest.mark.parametrize("sentence", GANGS)
def test_an_elastic_job_has_started_with_its_gang(sentence, mark):
    gang, started = GANGS[sentence]
    seen = jobset(counts(active=1))
    seen["spec"]["replicatedJobs"][0]["template"] = {"spec": {"template": {"metadata": mark}}}
    assert ("startTime" in look(job(), seen, gang=gang)) is started


def test_pods_outside_the_gang_are_waited_for():
    seen = jobset(counts(active=1))
    seen["spec"]["replicatedJobs"][0]["template"] = {"spec": {"template": {}}}
    assert "startTime" not in look(job(), seen, gang={"status": {"phase": "Running"}})


def test_a_job_that_we_fail_ends_now():
    got = fail({"jobsStatus": [counts()]}, reason="DeadlineExceeded", message="late", now=NOW)
    assert got == {
        "jobsStatus": [counts()],
        "conditions": (said("Failed", reason="DeadlineExceeded", message="late", since=AT_NOW),),
        "completionTime": AT_NOW,
    }
