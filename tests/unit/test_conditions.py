"""A condition keeps its time until it turns; ended is ended."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kfp_trainer.runtime_operator.conditions import (
    condition,
    find,
    is_finished,
    is_true,
    put,
    read_time,
    write_time,
)

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def suspended(holds: bool, since: str = LATE, message: str = "m"):
    return condition("Suspended", holds=holds, reason="R", message=message, since=since)


PUTS = {
    "the first of its type comes last": ([], suspended(True), [("True", LATE, "m")]),
    "the same status keeps its time and takes the new words": (
        [suspended(True, EARLY)],
        suspended(True, LATE, "new"),
        [("True", EARLY, "new")],
    ),
    "another status has a new time": ([suspended(True, EARLY)], suspended(False), [("False", LATE, "m")]),
    "a condition without a time gets one": ([suspended(True, "")], suspended(True), [("True", LATE, "m")]),
    "others stay in their place": (
        [
            suspended(True, EARLY),
            {"type": "Failed", "status": "False", "message": "f", "lastTransitionTime": EARLY},
        ],
        suspended(False),
        [("False", LATE, "m"), ("False", EARLY, "f")],
    ),
}


@pytest.mark.parametrize("sentence", PUTS)
def test_put(sentence):
    old, new, want = PUTS[sentence]
    got = put(old, new)
    assert [(each["status"], each["lastTransitionTime"], each["message"]) for each in got] == want


FINISHED = {
    "nothing said": ([], False),
    "complete": ([{"type": "Complete", "status": "True"}], True),
    "failed": ([{"type": "Failed", "status": "True"}], True),
    "a failure that was taken back": ([{"type": "Failed", "status": "False"}], False),
    "suspended only": ([{"type": "Suspended", "status": "True"}], False),
}


@pytest.mark.parametrize("sentence", FINISHED)
def test_is_finished(sentence):
    conditions, want = FINISHED[sentence]
    assert is_finished(conditions) is want


def test_a_condition_is_found_by_its_type():
    conditions = [{"type": "Suspended", "status": "False"}]
    assert find(conditions, "Suspended") == conditions[0]
    assert find(conditions, "Failed") is None
    assert not is_true(conditions, "Suspended")


TIMES = {
    "Kubernetes' own": ("2026-01-01T00:00:00Z", datetime(2026, 1, 1, tzinfo=UTC)),
    "with parts of a second": (
        "2026-01-01T00:00:00.500000Z",
        datetime(2026, 1, 1, microsecond=500000, tzinfo=UTC),
    ),
    "of another zone": ("2026-01-01T01:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)),
    "without a zone it is UTC": ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
}


@pytest.mark.parametrize("sentence", TIMES)
def test_times_are_read(sentence):
    text, want = TIMES[sentence]
    assert read_time(text) == want


def test_times_are_written_in_utc_to_the_second():
    time = datetime(2026, 1, 1, 1, 0, 0, 900000, tzinfo=timezone(timedelta(hours=1)))
    assert write_time(time) == "2026-01-01T00:00:00Z"
