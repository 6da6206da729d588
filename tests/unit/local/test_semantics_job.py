"""What a Job does with its pods: how many, when anew, and when it is over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kfp_trainer.runtime_operator.local.semantics import indexes, job_backoff, per_index
from kfp_trainer.runtime_operator.local.semantics.actions import (
    CreatePod,
    Decision,
    ReleasePod,
    StopPod,
    WriteJobStatus,
)
from kfp_trainer.runtime_operator.local.semantics.build_job import complete_spec
from kfp_trainer.runtime_operator.local.semantics.conditions import with_condition, with_job_condition
from kfp_trainer.runtime_operator.local.semantics.job import reconcile_job
from kfp_trainer.runtime_operator.local.semantics.model import (
    Backoff,
    Condition,
    Job,
    JobStatus,
    Pod,
    PodReport,
)

RUNS = PodReport("Running", ready=True)
NOW = 100.0


STARTED = JobStatus(started=0.0)


def a_job(status: JobStatus = STARTED, **spec: Any) -> Job:
    """An Indexed Job of two pods that are never restarted in place."""
    template = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main"}]}}
    indexed = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": template}
    manifest = {"metadata": {"namespace": "ns", "labels": {}}, "spec": complete_spec({**indexed, **spec})}
    return Job("j.1", "alpha-worker-0", manifest, created=0.0, status=status)


def a_pod(index: int | None = 0, report: PodReport = RUNS, uid: str = "", **fields: Any) -> Pod:
    """A pod that runs and is ready."""
    uid = uid or f"p{index}"
    return Pod(uid, f"name-{uid}", "alpha-worker-0", "j.1", index, {}, created=10.0, report=report, **fields)


def ended(code: int, at: float = 99.0, **fields: Any) -> PodReport:
    """A pod whose container ended with a code."""
    phase = "Failed" if code else "Succeeded"
    return PodReport(phase, exits=(("main", code),), finished=at, **fields)


def status_of(decision: Decision) -> JobStatus:
    """The status that is written."""
    return next(each.status for each in decision.actions if isinstance(each, WriteJobStatus))


def created(decision: Decision) -> list[int | None]:
    """The indexes at which pods are made."""
    return [each.index for each in decision.actions if isinstance(each, CreatePod)]


def stopped(decision: Decision) -> list[str]:
    """The pods that are stopped."""
    return [each.uid for each in decision.actions if isinstance(each, StopPod)]


def released(decision: Decision) -> list[str]:
    """The pods that are counted, or need not be."""
    return [each.uid for each in decision.actions if isinstance(each, ReleasePod)]


def said(status: JobStatus) -> list[tuple[str, str]]:
    """What the conditions say."""
    return [(each.type, each.reason) for each in status.conditions if each.status == "True"]


FAIL_42 = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
INIT_42 = {
    "rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42], "containerName": "init"}}
    ]
}
NOT_7 = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [7]}}]}
NOT_READY = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "Ready", "status": "False"}]}]}
DISRUPTED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
TWO_INDEXES = {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}]}
EMPTY_INDEXES = {"rules": [{"succeededIndexes": ""}, {"succeededCount": 2}]}

VERDICTS: dict[str, tuple[dict[str, Any], list[Pod], str]] = {
    "all go on": ({}, [a_pod(0), a_pod(1)], ""),
    "one failure of none allowed": (
        {"backoffLimit": 0},
        [a_pod(0, ended(1)), a_pod(1)],
        "BackoffLimitExceeded",
    ),
    "one failure of one allowed": ({"backoffLimit": 1}, [a_pod(0, ended(1)), a_pod(1)], ""),
    "a pod that is told to stop has failed": (
        {"backoffLimit": 0},
        [a_pod(0, deleted=99.0), a_pod(1)],
        "BackoffLimitExceeded",
    ),
    "unless its end is waited for": (
        {"backoffLimit": 0, "podReplacementPolicy": "Failed"},
        [a_pod(0, deleted=99.0), a_pod(1)],
        "",
    ),
    "or it has succeeded": ({"backoffLimit": 0}, [a_pod(0, ended(0), deleted=99.0), a_pod(1)], ""),
    "the deadline": ({"activeDeadlineSeconds": 100}, [a_pod(0), a_pod(1)], "DeadlineExceeded"),
    "just before the deadline": ({"activeDeadlineSeconds": 101}, [a_pod(0), a_pod(1)], ""),
    "the limit before the deadline": (
        {"activeDeadlineSeconds": 1, "backoffLimit": 0},
        [a_pod(0, ended(1)), a_pod(1)],
        "BackoffLimitExceeded",
    ),
    "an exit code that fails the Job": (
        {"podFailurePolicy": FAIL_42},
        [a_pod(0, ended(42))],
        "PodFailurePolicy",
    ),
    "another exit code": ({"podFailurePolicy": FAIL_42}, [a_pod(0, ended(41))], ""),
    "another container": ({"podFailurePolicy": INIT_42}, [a_pod(0, ended(42))], ""),
    "that container": (
        {"podFailurePolicy": INIT_42},
        [a_pod(0, PodReport("Failed", exits=(("main", 0), ("init", 42)), finished=1.0))],
        "PodFailurePolicy",
    ),
    "a code that is not named is ignored": (
        {"podFailurePolicy": NOT_7, "backoffLimit": 0},
        [a_pod(0, ended(8)), a_pod(1)],
        "",
    ),
    "a code that is named counts": (
        {"podFailurePolicy": NOT_7, "backoffLimit": 0},
        [a_pod(0, ended(7)), a_pod(1)],
        "BackoffLimitExceeded",
    ),
    "a condition of every failed pod": (
        {"podFailurePolicy": NOT_READY},
        [a_pod(0, ended(1)), a_pod(1)],
        "PodFailurePolicy",
    ),
    "a pod that is evicted is ignored": (
        {"podFailurePolicy": DISRUPTED, "backoffLimit": 0},
        [a_pod(0, ended(137, conditions=(("DisruptionTarget", "True"),))), a_pod(1)],
        "",
    ),
    "two of the indexes that decide": (
        {"completions": 4, "parallelism": 4, "successPolicy": TWO_INDEXES},
        [a_pod(0, ended(0)), a_pod(1), a_pod(2, ended(0)), a_pod(3)],
        "SuccessPolicy",
    ),
    "one of them and another": (
        {"completions": 4, "parallelism": 4, "successPolicy": TWO_INDEXES},
        [a_pod(0, ended(0)), a_pod(1, ended(0)), a_pod(2), a_pod(3)],
        "",
    ),
    "two indexes, whichever": (
        {"completions": 3, "parallelism": 3, "successPolicy": EMPTY_INDEXES},
        [a_pod(0, ended(0)), a_pod(1), a_pod(2, ended(0))],
        "SuccessPolicy",
    ),
    "all have succeeded": ({}, [a_pod(0, ended(0)), a_pod(1, ended(0))], "CompletionsReached"),
    "an index fails and another goes on": (
        {"backoffLimitPerIndex": 0},
        [a_pod(0, ended(1)), a_pod(1)],
        "",
    ),
    "an index has failed and no other is left": (
        {"backoffLimitPerIndex": 0},
        [a_pod(0, ended(1)), a_pod(1, ended(0))],
        "FailedIndexes",
    ),
    "more indexes have failed than may": (
        {"backoffLimitPerIndex": 0, "maxFailedIndexes": 0},
        [a_pod(0, ended(1)), a_pod(1)],
        "MaxFailedIndexesExceeded",
    ),
}


@pytest.mark.parametrize("sentence", VERDICTS)
def test_a_job_is_judged(sentence: str) -> None:
    spec, pods, reason = VERDICTS[sentence]
    status = status_of(reconcile_job(a_job(**spec), tuple(pods), NOW))
    assert [why for _, why in said(status)][:1] == ([reason] if reason else [])


def in_place(restarts: int) -> PodReport:
    """A pod that was restarted so often in place."""
    return replace(RUNS, restarts=(("main", restarts), ("init", 0)))


IN_PLACE = {
    "none allowed, none": (0, [0, 0], False),
    "none allowed, one": (0, [1, 0], True),
    "one allowed, one": (1, [1, 0], True),
    "six allowed, five": (6, [3, 2], False),
    "six allowed, six over both": (6, [3, 3], True),
}


@pytest.mark.parametrize("sentence", IN_PLACE)
def test_restarts_in_place_are_summed(sentence: str) -> None:
    limit, restarts, fails = IN_PLACE[sentence]
    template = {"metadata": {}, "spec": {"restartPolicy": "OnFailure", "containers": []}}
    pods = tuple(a_pod(index, in_place(count)) for index, count in enumerate(restarts))
    decision = reconcile_job(a_job(backoffLimit=limit, template=template), pods, NOW)
    assert said(status_of(decision)) == ([("FailureTarget", "BackoffLimitExceeded")] if fails else [])


def test_a_job_that_is_judged_stops_its_pods_before_it_ends() -> None:
    pods = (a_pod(0, ended(1)), a_pod(1))
    first = reconcile_job(a_job(backoffLimit=0), pods, NOW)
    status = status_of(first)
    assert (status.failed, status.active, status.ready, status.terminating) == (2, 0, 0, 1)
    assert stopped(first) == ["p1"] and released(first) == ["p0", "p1"]
    assert said(status) == [("FailureTarget", "BackoffLimitExceeded")]
    late = (replace(pods[0], tracked=False), a_pod(1, ended(0), deleted=NOW, tracked=False))
    second = reconcile_job(a_job(status, backoffLimit=0), late, NOW + 9)
    assert said(status_of(second)) == [*said(status), ("Failed", "BackoffLimitExceeded")]
    assert status_of(second).failed == 2
    assert reconcile_job(a_job(status_of(second)), late, NOW + 10) == Decision()


def test_a_job_that_succeeds_by_its_policy_counts_no_failure() -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    decision = reconcile_job(a_job(successPolicy=policy), (a_pod(0, ended(0)), a_pod(1)), NOW)
    status = status_of(decision)
    assert (status.succeeded, status.failed, status.completed_indexes) == (1, 0, "0")
    assert said(status) == [("SuccessCriteriaMet", "SuccessPolicy")]
    late = (a_pod(0, ended(0), tracked=False), a_pod(1, ended(143), deleted=NOW, tracked=False))
    again = reconcile_job(a_job(status, successPolicy=policy), late, NOW + 1)
    assert said(status_of(again))[-1] == ("Complete", "SuccessPolicy")


def test_a_suspended_job_has_no_pods_and_counts_none() -> None:
    pods = (a_pod(0, ended(0)), a_pod(1))
    decision = reconcile_job(a_job(suspend=True), pods, NOW)
    status = status_of(decision)
    assert (status.active, status.terminating, status.succeeded, status.failed) == (0, 1, 1, 0)
    assert status.started is None and said(status) == [("Suspended", "JobSuspended")]
    assert stopped(decision) == ["p1"] and set(released(decision)) == {"p0", "p1"}
    resumed = reconcile_job(a_job(status), (), NOW + 50)
    assert created(resumed) == [1]
    assert (status_of(resumed).started, said(status_of(resumed))) == (NOW + 50, [])


def test_a_job_that_goes_counts_nobody_who_still_runs() -> None:
    job = replace(a_job(backoffLimit=0), deleted=NOW)
    decision = reconcile_job(job, (a_pod(0), a_pod(1)), NOW)
    assert released(decision) == ["p0", "p1"] and not stopped(decision) and not created(decision)
    assert status_of(decision).failed == 0


PODS: dict[str, tuple[dict[str, Any], list[Pod], list[int | None]]] = {
    "none yet": ({}, [], [0, 1]),
    "one is there": ({}, [a_pod(1)], [0]),
    "one has succeeded": ({}, [a_pod(0, ended(0))], [1]),
    "one side by side": ({"parallelism": 1, "completions": 3}, [a_pod(0, ended(0))], [1]),
    "fewer indexes than places": ({"parallelism": 5}, [], [0, 1]),
    "without indexes": ({"completionMode": "NonIndexed"}, [a_pod(None)], [None]),
    "without completions": ({"completionMode": "NonIndexed", "completions": None}, [a_pod(None)], [None]),
    "without completions, after a success": (
        {"completionMode": "NonIndexed", "completions": None},
        [a_pod(None), a_pod(None, ended(0), uid="done")],
        [],
    ),
    "one is told to stop": ({}, [a_pod(0, deleted=20.0), a_pod(1)], [0]),
    "one is told to stop and is waited for": (
        {"podReplacementPolicy": "Failed"},
        [a_pod(0, deleted=20.0), a_pod(1)],
        [],
    ),
    "one is waited for and one is missing": (
        {"podReplacementPolicy": "Failed"},
        [a_pod(0, deleted=20.0)],
        [1],
    ),
    "a failure that waits": ({}, [a_pod(0, ended(1, at=95.0)), a_pod(1)], []),
    "a failure that has waited": ({}, [a_pod(0, ended(1, at=90.0)), a_pod(1)], [0]),
    "an index that waits beside one that is new": (
        {"backoffLimitPerIndex": 3},
        [a_pod(0, ended(1, at=95.0))],
        [1],
    ),
    "an index that has waited": ({"backoffLimitPerIndex": 3}, [a_pod(0, ended(1, at=90.0)), a_pod(1)], [0]),
    "an index that has failed for good": (
        {"backoffLimitPerIndex": 0},
        [a_pod(0, ended(1, at=10.0)), a_pod(1)],
        [],
    ),
}


@pytest.mark.parametrize("sentence", PODS)
def test_pods_are_made(sentence: str) -> None:
    spec, pods, indexes_made = PODS[sentence]
    assert created(reconcile_job(a_job(**spec), tuple(pods), NOW)) == indexes_made


AGAIN: dict[str, tuple[dict[str, Any], list[Pod], float | None]] = {
    "never": ({}, [a_pod(0), a_pod(1)], None),
    "at the deadline": ({"activeDeadlineSeconds": 150}, [a_pod(0), a_pod(1)], 150.0),
    "never while suspended": ({"activeDeadlineSeconds": 150, "suspend": True}, [], None),
    "after the back-off": ({}, [a_pod(0, ended(1, at=95.0)), a_pod(1)], 105.0),
    "whichever comes first": (
        {"activeDeadlineSeconds": 103},
        [a_pod(0, ended(1, at=95.0)), a_pod(1)],
        103.0,
    ),
    "after the back-off of an index": (
        {"backoffLimitPerIndex": 3},
        [a_pod(0, ended(1, at=95.0), failures=1, ignored=1), a_pod(1)],
        135.0,
    ),
}


@pytest.mark.parametrize("sentence", AGAIN)
def test_a_job_says_when_to_look_again(sentence: str) -> None:
    spec, pods, when = AGAIN[sentence]
    assert reconcile_job(a_job(**spec), tuple(pods), NOW).look_again == when


def test_the_count_of_an_index_goes_to_the_next_pod() -> None:
    failed = a_pod(0, ended(1, at=0.0), failures=1, ignored=2)
    decision = reconcile_job(a_job(backoffLimitPerIndex=5), (failed, a_pod(1)), NOW)
    assert CreatePod("j.1", 0, failures=2, ignored=2) in decision.actions
    assert "p0" not in released(decision)
    beside = (failed, a_pod(0, uid="new", failures=2, ignored=2), a_pod(1))
    assert released(reconcile_job(a_job(backoffLimitPerIndex=5), beside, NOW)) == ["p0"]
    ignored = a_job(backoffLimitPerIndex=5, podFailurePolicy=NOT_7)
    assert per_index.counts_after(ignored, failed) == (1, 3)
    assert per_index.counts_after(ignored, None) == (0, 0)


WAITS = {"none": (0, None), "one": (1, 10.0), "two": (2, 20.0), "four": (4, 80.0), "twenty": (20, 600.0)}


@pytest.mark.parametrize("sentence", WAITS)
def test_the_wait_doubles(sentence: str) -> None:
    failures, seconds = WAITS[sentence]
    assert job_backoff.due(failures, 0.0) == seconds


def test_a_success_begins_the_wait_anew() -> None:
    good, bad = a_pod(0, ended(0, at=50.0)), a_pod(1, ended(1, at=40.0))
    record = Backoff(3, 30.0)
    assert job_backoff.next_record(record, [], []) == record
    assert job_backoff.next_record(record, [], [bad]) == Backoff(4, 40.0)
    assert job_backoff.next_record(record, [good], [bad]) == Backoff(0, None)
    assert job_backoff.next_record(record, [good], [bad, a_pod(1, ended(1, at=60.0))]) == Backoff(1, 60.0)


def test_the_end_of_a_pod_is_known_from_what_there_is() -> None:
    assert job_backoff.finished_at(a_pod(0, ended(1, at=5.0), deleted=4.0)) == 5.0
    assert job_backoff.finished_at(a_pod(0, deleted=4.0)) == 4.0
    assert job_backoff.finished_at(a_pod(0)) == 10.0


INDEXES = {
    "nothing": ("", set(), ""),
    "one": ("3", {3}, "3"),
    "neighbours": ("0,1", {0, 1}, "0,1"),
    "a range": ("0,1,2,5-7", {0, 1, 2, 5, 6, 7}, "0-2,5-7"),
    "out of range": ("8-20,30", {8, 9}, "8,9"),
    "nonsense": ("a,1-b,-,2", {2}, "2"),
}


@pytest.mark.parametrize("sentence", INDEXES)
def test_indexes_are_read_and_written(sentence: str) -> None:
    text, found, written = INDEXES[sentence]
    assert indexes.parse(text, 10) == found
    assert indexes.write(found) == written


def test_free_indexes_are_the_lowest() -> None:
    assert indexes.first_free({0, 2}, 2, 10) == [1, 3]
    assert indexes.first_free({0, 2}, 9, 4) == [1, 3]
    assert indexes.first_free(set(), 0, 4) == []


def test_a_condition_that_was_never_true_is_not_added() -> None:
    true, false = Condition("A", "True", "x", "", 1.0), Condition("A", "False", "y", "", 2.0)
    for rule in (with_condition, with_job_condition):
        assert rule((), false) == ()
        assert rule((), true) == (true,)
        assert rule((true,), false) == (false,)
    assert with_condition((true,), Condition("A", "True", "z", "", 9.0))[0].since == 1.0


def test_startup_in_progress_and_completed_exclude_one_another() -> None:
    going = Condition("StartupPolicyInProgress", "True")
    done = Condition("StartupPolicyCompleted", "True")
    assert [each.status for each in with_condition((going,), done)] == ["False", "True"]
    assert [each.status for each in with_condition(with_condition((going,), done), going)] == [
        "True",
        "False",
    ]
