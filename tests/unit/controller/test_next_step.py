"""What happens next to a TrainJob."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.controller.next_step import next_step
from kfp_trainer.runtime_operator.errors import FieldError, Retryable, SetupError, SpecError

NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
CREATED = "2026-01-01T00:00:00Z"  # ten minutes ago


def owned(kind, version, name="bert", *, owner="uid", **more):
    metadata = {"name": name, "ownerReferences": [{"uid": owner, "controller": True}]}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def jobset(*, owner="uid", suspend=False, conditions=()):
    body = {"spec": {"suspend": suspend}, "status": {"conditions": list(conditions)}}
    return owned("JobSet", "jobset.x-k8s.io/v1alpha2", owner=owner, **body)


GANG = owned("PodGroup", "scheduling.volcano.sh/v1beta1")
SNAPSHOT = owned("ConfigMap", "v1", "bert-runtime-snapshot")
FOREIGN_SNAPSHOT = owned("ConfigMap", "v1", "bert-runtime-snapshot", owner="old")
PLAN = SimpleNamespace(objects=(SNAPSHOT, GANG, jobset()))
RESTING_PLAN = SimpleNamespace(objects=(SNAPSHOT, jobset(suspend=True)))
FAILED = {
    "type": "Failed",
    "status": "True",
    "reason": "FailedJobs",
    "message": "m",
    "lastTransitionTime": CREATED,
}
LATE = {**FAILED, "reason": "DeadlineExceeded"}
CANCEL = {"annotations": {"kfp-trainer/cancel": "true"}}
COMPLETED = {**FAILED, "type": "Completed", "reason": "AllJobsCompleted"}


def job(*, status=None, metadata=None, **spec):
    named = {"name": "bert", "uid": "uid", "creationTimestamp": CREATED, **(metadata or {})}
    return {"metadata": named, "spec": spec, **({"status": status} if status else {})}


def ended(*conditions):
    return {"conditions": list(conditions), "completionTime": CREATED}


def plan(made=PLAN):
    return lambda: made


def cannot(error):
    def build():
        raise error

    return build


def never():
    raise AssertionError("nothing is to be built")


def kinds(objects):
    return [each.get("kind", "TrainJob") for each in objects]


# job, what exists, the build; then: applied, deleted, the end in the status, seconds to wait
CASES = {
    "a new job is built": (job(), [], plan(), ["ConfigMap", "PodGroup", "JobSet"], [], None, None),
    "a running job is left alone": (job(), [SNAPSHOT, GANG, jobset()], plan(), [], [], None, None),
    "a job that was cancelled ends, and frees what it holds": (
        job(metadata=CANCEL),
        [SNAPSHOT, GANG, jobset()],
        never,
        [],
        ["PodGroup", "JobSet"],
        "Cancelled",
        None,
    ),
    "a job that was cancelled before it began is not built": (
        job(metadata=CANCEL, suspend=True),
        [],
        never,
        [],
        [],
        "Cancelled",
        None,
    ),
    "the JobSet of a cancelled job is deleted again until it is gone": (
        job(metadata=CANCEL, status=ended({**FAILED, "reason": "Cancelled"})),
        [jobset()],
        never,
        [],
        ["JobSet"],
        "Cancelled",
        None,
    ),
    "a job that had ended before it was cancelled keeps its end": (
        job(metadata=CANCEL, status=ended(FAILED)),
        [jobset()],
        never,
        [],
        [],
        "FailedJobs",
        None,
    ),
    "a job that is being deleted is nobody's work any more": (
        job(metadata={"deletionTimestamp": CREATED}),
        [],
        never,
        [],
        [],
        None,
        None,
    ),
    "a job of MultiKueue is another's work": (
        job(managedBy="kueue.x-k8s.io/multikueue"),
        [],
        never,
        [],
        [],
        None,
        None,
    ),
    "a job that is to rest gives its place in the queue back": (
        job(suspend=True),
        [SNAPSHOT, GANG, jobset()],
        plan(RESTING_PLAN),
        ["JobSet"],
        ["PodGroup"],
        None,
        None,
    ),
    "a completed JobSet ends the job, and the gang lets go": (
        job(),
        [GANG, jobset(conditions=[COMPLETED])],
        never,
        [],
        ["PodGroup"],
        "AllJobsCompleted",
        None,
    ),
    "a failed job whose JobSet is gone does not run again": (
        job(status=ended(FAILED)),
        [],
        never,
        [],
        [],
        "FailedJobs",
        None,
    ),
    "a failed job keeps its JobSet, for its logs": (
        job(status=ended(FAILED)),
        [jobset()],
        never,
        [],
        [],
        "FailedJobs",
        None,
    ),
    "a deadline that is over stops the job": (
        job(activeDeadlineSeconds=60),
        [jobset()],
        never,
        [],
        ["JobSet"],
        "DeadlineExceeded",
        None,
    ),
    "a deadline that is over before anything was built": (
        job(activeDeadlineSeconds=60),
        [],
        never,
        [],
        [],
        "DeadlineExceeded",
        None,
    ),
    "a deletion that was not done is asked for again": (
        job(status=ended(LATE)),
        [jobset(), GANG],
        never,
        [],
        ["PodGroup", "JobSet"],
        "DeadlineExceeded",
        None,
    ),
    "a job that got no pods in its time gives up": (
        job(startDeadlineSeconds=60),
        [jobset()],
        never,
        [],
        ["JobSet"],
        "StartDeadlineExceeded",
        None,
    ),
    "a deadline to come is waited for": (
        job(activeDeadlineSeconds=660),
        [SNAPSHOT, GANG, jobset()],
        plan(),
        [],
        [],
        None,
        60.0,
    ),
    "a JobSet that completed in time beats the deadline": (
        job(activeDeadlineSeconds=60),
        [jobset(conditions=[COMPLETED])],
        never,
        [],
        [],
        "AllJobsCompleted",
        None,
    ),
    "a ttl that is over clears the job away": (
        job(status=ended(FAILED), ttlSecondsAfterFinished=60),
        [],
        never,
        [],
        ["TrainJob"],
        "FailedJobs",
        None,
    ),
    "a ttl to come is waited for": (
        job(status=ended(FAILED), ttlSecondsAfterFinished=660),
        [],
        never,
        [],
        [],
        "FailedJobs",
        60.0,
    ),
    "a job that cannot be built fails and says why": (
        job(),
        [],
        cannot(SpecError([FieldError("spec.a", "no"), FieldError("spec.b", "no")])),
        [],
        [],
        "RuntimeInvalid",
        None,
    ),
    "a running job is not failed by what cannot be built again": (
        job(activeDeadlineSeconds=660),
        [jobset()],
        cannot(SpecError("no")),
        [],
        [],
        None,
        60.0,
    ),
    "what may work later is tried later": (job(), [], cannot(Retryable("no", after=7)), [], [], None, 7.0),
    "an installation that lacks something may be mended": (
        job(),
        [],
        cannot(SetupError("no certificate")),
        [],
        [],
        None,
        30.0,
    ),
    "a deadline comes before the next try": (
        job(activeDeadlineSeconds=601),
        [],
        cannot(Retryable("no", after=7)),
        [],
        [],
        None,
        1.0,
    ),
    "a namesake's JobSet is waited out": (job(), [jobset(owner="old")], never, [], [], None, 5.0),
    "a namesake's snapshot is waited out": (job(), [FOREIGN_SNAPSHOT], never, [], [], None, 5.0),
    "a namesake's end is not this job's": (
        job(),
        [jobset(owner="old", conditions=[COMPLETED])],
        never,
        [],
        [],
        None,
        5.0,
    ),
    "a namesake's gang is not this job's to delete": (
        job(suspend=True),
        [owned("PodGroup", "scheduling.volcano.sh/v1beta1", owner="old")],
        plan(RESTING_PLAN),
        ["ConfigMap", "JobSet"],
        [],
        None,
        None,
    ),
}


def decide(sentence):
    given, existing, build, *_ = CASES[sentence]
    found = {(each["kind"], each["metadata"]["name"]): each for each in existing}
    return next_step(given, found, build, now=NOW)


def end_of(status):
    ends = [
        each["reason"]
        for each in (status or {}).get("conditions", ())
        if each["type"] in ("Complete", "Failed")
    ]
    assert len(ends) <= 1, "a job ends once"
    return ends[0] if ends else None


@pytest.mark.parametrize("sentence", CASES)
def test_next_step(sentence):
    _, _, _, applied, deleted, end, wait = CASES[sentence]
    step = decide(sentence)
    assert kinds(step.apply) == applied
    assert kinds(step.delete) == deleted
    assert end_of(step.status) == end
    assert step.requeue_after == wait


@pytest.mark.parametrize("sentence", CASES)
def test_the_same_world_gives_the_same_step(sentence):
    assert decide(sentence) == decide(sentence)


def test_what_is_not_ours_to_write_is_not_written():
    step = decide("a job of MultiKueue is another's work")
    assert step.status is None


def test_all_reasons_stand_in_one_line():
    step = decide("a job that cannot be built fails and says why")
    assert step.status["conditions"][0]["message"] == "spec.a: no; spec.b: no"
    assert [each.message for each in step.events] == [
        "TrainJob resources reconciliation failed: spec.a: no; spec.b: no"
    ]


def test_an_object_on_its_way_out_is_not_deleted_again():
    going = jobset()
    going = {**going, "metadata": {**going["metadata"], "deletionTimestamp": CREATED}}
    step = next_step(job(status=ended(LATE)), {("JobSet", "bert"): going}, never, now=NOW)
    assert step.delete == ()


WHYS = {
    "a new job is built": None,
    "a job that is to rest gives its place in the queue back": (
        "is suspended; set spec.suspend to false to run it"
    ),
    "a namesake's JobSet is waited out": "waits until a deleted TrainJob of the same name is gone",
    "what may work later is tried later": "cannot be built yet: no",
    "an installation that lacks something may be mended": "cannot be built yet: no certificate",
    "a running job is not failed by what cannot be built again": (
        "stays as it is, since it cannot be built: no"
    ),
    "a job that cannot be built fails and says why": None,
    "a completed JobSet ends the job, and the gang lets go": None,
    "a deadline that is over stops the job": None,
}


@pytest.mark.parametrize("sentence", WHYS)
def test_a_job_that_waits_says_why_and_no_other_does(sentence):
    given, existing, build = CASES[sentence][:3]
    given = {**given, "status": {**given.get("status", {}), "why": "what was true before"}}
    named = {(each["kind"], each["metadata"]["name"]): each for each in existing}
    assert next_step(given, named, build, now=NOW).status.get("why") == WHYS[sentence]


def test_a_jobset_of_another_name_ends_nothing():
    other = owned("JobSet", "jobset.x-k8s.io/v1alpha2", "other", status={"conditions": [COMPLETED]})
    other["metadata"]["ownerReferences"] = []
    step = next_step(job(), {("JobSet", "other"): other}, plan(), now=NOW)
    assert end_of(step.status) is None


def test_an_event_is_no_longer_than_a_server_takes():
    step = next_step(job(), {}, cannot(SpecError("x" * 5000)), now=NOW)
    assert [len(each.message) for each in step.events] == [1024]
