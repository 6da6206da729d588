"""What a job waits for, in a sentence."""

import pytest

from kfp_trainer.runtime_operator.controller.seen import Seen
from kfp_trainer.runtime_operator.controller.waiting import LONGEST, why, with_why

JOB = {"metadata": {"name": "bert"}, "spec": {}}
IN_GANG = {"metadata": {"annotations": {"scheduling.k8s.io/group-name": "bert"}}}
AFTER_DATA = [{"name": "data", "status": "Complete"}]
AFTER_NODE = [{"name": "node", "status": "Ready"}]


def jobset(told, **jobs):
    """A JobSet of jobs by what they wait for, and counts of those that have any."""
    return {
        "spec": {
            "replicatedJobs": [
                {"name": name, "dependsOn": needs, "template": {"spec": {"template": IN_GANG}}}
                for name, needs in jobs.items()
            ]
        },
        "status": {"replicatedJobsStatus": [{"name": name, **counts} for name, counts in told.items()]},
    }


def gang(**status):
    return {"status": status}


UNSCHEDULABLE = {"type": "Unschedulable", "status": "True", "message": "2/4 tasks in gang unschedulable"}
ALONE = jobset({"node": {"active": 1}}, node=None)

CASES = {
    "a job that is held back": (
        {"metadata": {}, "spec": {"suspend": True}},
        None,
        None,
        "is suspended; set spec.suspend to false to run it",
    ),
    "a job that Kueue holds back": (
        {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}}, "spec": {"suspend": True}},
        None,
        None,
        "waits until Kueue admits it to the queue team",
    ),
    "a job that Kueue holds back, and why": (
        {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}}, "spec": {"suspend": True}},
        None,
        None,
        Seen(queued="insufficient unused quota for nvidia.com/gpu"),
        "waits until Kueue admits it to the queue team: insufficient unused quota for nvidia.com/gpu",
    ),
    "what Kueue said before does not matter to a job that it let go": (
        JOB,
        ALONE,
        None,
        Seen(queued="insufficient unused quota"),
        "waits until all pods of node run",
    ),
    "pods in trouble": (
        JOB,
        ALONE,
        None,
        Seen("pod a cannot be placed"),
        "waits until all pods of node run: pod a cannot be placed",
    ),
    "no JobSet yet": (JOB, None, None, None),
    "a JobSet that has counted nothing": (JOB, {"spec": {}}, None, None),
    "all pods run": (JOB, jobset({"node": {"ready": 1}}, node=None), None, None),
    "pods that are not ready": (JOB, ALONE, None, "waits until all pods of node run"),
    "two jobs at once": (
        JOB,
        jobset({"a": {"active": 1}, "b": {}}, a=None, b=None),
        None,
        "waits until all pods of a and b run",
    ),
    "the job that others wait for comes first": (
        JOB,
        jobset({"node": {}, "data": {"active": 1}}, node=AFTER_DATA, data=None),
        None,
        "waits until all pods of data run",
    ),
    "an initializer that works": (
        JOB,
        jobset({"data": {"ready": 1}}, data=None, node=AFTER_DATA),
        None,
        "node waits until data is complete",
    ),
    "an initializer that is done": (
        JOB,
        jobset({"data": {"succeeded": 1}}, data=None, node=AFTER_DATA),
        None,
        "waits until all pods of node run",
    ),
    "a launcher whose nodes are ready": (
        JOB,
        jobset({"node": {"ready": 1}, "launcher": {}}, node=None, launcher=AFTER_NODE),
        None,
        "waits until all pods of launcher run",
    ),
    "a need of a job that is not there": (
        JOB,
        jobset({"node": {}}, node=AFTER_DATA),
        None,
        "node waits until data is complete",
    ),
    "a gang without room": (
        JOB,
        ALONE,
        gang(phase="Inqueue", conditions=[UNSCHEDULABLE]),
        "waits until all pods of node run; the scheduler says: 2/4 tasks in gang unschedulable",
    ),
    "a gang without room and without words": (
        JOB,
        ALONE,
        gang(conditions=[{"type": "Unschedulable", "status": "True"}]),
        "waits until all pods of node run; the scheduler says: unschedulable",
    ),
    "a gang in the queue": (
        JOB,
        ALONE,
        gang(phase="Pending"),
        "waits until all pods of node run; the scheduler has not placed them all",
    ),
    "a gang that runs": (JOB, ALONE, gang(phase="Running"), None),
    "a gang of which nothing is said": (JOB, ALONE, {}, "waits until all pods of node run"),
}


@pytest.mark.parametrize("sentence", CASES)
def test_why(sentence):
    *given, want = CASES[sentence]
    assert why(*given) == want


STATUSES = {
    "nothing to say": ({}, None, {}),
    "said anew": ({"why": "a", "startTime": "t"}, "b", {"startTime": "t", "why": "b"}),
    "no longer true": ({"why": "a"}, None, {}),
    "no longer than the schema has it": ({}, "x" * 5000, {"why": "x" * LONGEST}),
}


@pytest.mark.parametrize("sentence", STATUSES)
def test_with_why(sentence):
    status, reason, want = STATUSES[sentence]
    assert with_why(status, reason) == want
