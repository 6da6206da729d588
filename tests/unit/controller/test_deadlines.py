"""When a job's time is over."""

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.controller.deadlines import cleared_at, deadlines

CREATED, RESUMED = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def at(day, minute):
    return datetime(2026, 1, day, 0, minute, tzinfo=UTC)


def job(created=CREATED, **spec):
    return {"metadata": {"creationTimestamp": created} if created else {}, "spec": spec}


def suspended(status):
    return {"conditions": [{"type": "Suspended", "status": status, "lastTransitionTime": RESUMED}]}


DEADLINES = {
    "none is set": (job(), {}, []),
    "counted from the creation": (job(activeDeadlineSeconds=60), {}, [(at(1, 1), "DeadlineExceeded")]),
    "counted from the last time it was resumed": (
        job(activeDeadlineSeconds=60),
        suspended("False"),
        [(at(2, 1), "DeadlineExceeded")],
    ),
    "none while suspended": (job(activeDeadlineSeconds=60, suspend=True), suspended("True"), []),
    "none for a job that no server has stored": (job(None, activeDeadlineSeconds=60), {}, []),
    "a job that never got its pods": (
        job(startDeadlineSeconds=120),
        {},
        [(at(1, 2), "StartDeadlineExceeded")],
    ),
    "a job that had its pods once needs not hurry": (
        job(startDeadlineSeconds=120),
        {"startTime": CREATED},
        [],
    ),
    "the sooner comes first": (
        job(activeDeadlineSeconds=180, startDeadlineSeconds=120),
        {},
        [(at(1, 2), "StartDeadlineExceeded"), (at(1, 3), "DeadlineExceeded")],
    ),
}


@pytest.mark.parametrize("sentence", DEADLINES)
def test_deadlines(sentence):
    given, status, want = DEADLINES[sentence]
    assert [(each.at, each.reason) for each in deadlines(given, status)] == want


def test_the_message_names_the_time_that_was_given():
    (found,) = deadlines(job(startDeadlineSeconds=120), {})
    assert found.message == "TrainJob did not get all its pods running within 120 s"


TTLS = {
    "no ttl, no clearing": (job(), None),
    "counted from the end": (job(ttlSecondsAfterFinished=60), at(2, 1)),
    "at once": (job(ttlSecondsAfterFinished=0), at(2, 0)),
}


@pytest.mark.parametrize("sentence", TTLS)
def test_cleared_at(sentence):
    given, want = TTLS[sentence]
    assert cleared_at(given, {"completionTime": RESUMED}) == want
