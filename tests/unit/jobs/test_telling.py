import pytest

from kfp_trainer.runtime_operator.jobs.description import PodView, why
from kfp_trainer.runtime_operator.jobs.digest import digest
from kfp_trainer.runtime_operator.jobs.protocol import Job
from kfp_trainer.runtime_operator.jobs.times import times
from kfp_trainer.runtime_operator.local.causes import Death

RUNS, DONE = PodView("a", "Running", 0), PodView("b", "Succeeded", 0)

WHY = {
    "it has ended": ("Failed", [RUNS], "as it was"),
    "it rests": ("Suspended", [], "as it was"),
    "nothing was started": ("Pending", [], "none of its 2 pods has been started yet"),
    "it runs": ("Running", [RUNS, DONE], "of 2 pods 1 run and 1 have ended well"),
    "a pod waits": (
        "Pending",
        [RUNS, PodView("c", "Pending", 0, waiting="CrashLoopBackOff: back-off 10s")],
        "pod c waits: CrashLoopBackOff: back-off 10s",
    ),
}


@pytest.mark.parametrize("sentence", WHY)
def test_why(sentence):
    phase, pods, expected = WHY[sentence]
    assert why(Job("bert", "default", phase, {}, message="as it was"), pods, wanted=2) == expected


START, END = "1970-01-01T00:00:30Z", "1970-01-01T00:01:40Z"
POD = {"startTime": "1970-01-01T00:00:20Z"}
TIMES = {
    "no pod yet": ({}, [], (("waiting", 90.0),)),
    "pods are being started": ({}, [POD], (("waiting", 10.0), ("starting", 80.0))),
    "it runs": ({"startTime": START}, [POD], (("waiting", 10.0), ("starting", 10.0), ("running", 70.0))),
    "it has ended": (
        {"startTime": START, "completionTime": "1970-01-01T00:00:50Z"},
        [POD],
        (("waiting", 10.0), ("starting", 10.0), ("running", 20.0)),
    ),
}


@pytest.mark.parametrize("sentence", TIMES)
def test_where_the_time_went(sentence):
    status, pods, expected = TIMES[sentence]
    assert times(10.0, status, pods, now=100.0) == expected


def test_a_digest_begins_with_the_cause_and_has_the_last_lines():
    death = Death("a", "node", 3, "Error", "then")
    text = digest(
        "bert", why="it died", deaths=[death], lines=[str(n) for n in range(60)], times=[("running", 5.2)]
    )
    lines = text.splitlines()
    assert lines[:3] == ["job bert failed: it died", "last 50 lines:", "  10"]
    assert lines[-3:] == ["exit codes:", "  pod a, container node: exit code 3", "time: running 5 s"]


def test_a_digest_leaves_out_what_is_not_known():
    assert digest("bert", why="it died", deaths=[], lines=[], times=[]) == "job bert failed: it died"
