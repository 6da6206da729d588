"""Which refusals of the API server still count."""

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.controller.pod_view import PodView
from kfp_trainer.runtime_operator.controller.refusals import Refusal, refusal, standing

NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
RECENT, OLD = "2026-01-01T00:09:00Z", "2025-12-31T23:00:00Z"
NODES = {"name": "node", "replicas": 2, "template": {"spec": {"parallelism": 2}}}


def jobset(**counts):
    told = [{"name": "node", **counts}] if counts else []
    return {
        "metadata": {"name": "bert"},
        "spec": {"replicatedJobs": [NODES]},
        "status": {"replicatedJobsStatus": told},
    }


def of_job(message="m", last=RECENT, name="bert-node-1"):
    return Refusal("Job", name, message, last)


def pods(*names):
    return [PodView(name, "bert", "u", "", "Pending", 0, None, ()) for name in names]


CASES = {
    "pods are missing": (jobset(), [of_job()], pods("bert-node-1-0-x"), ("m",)),
    "all pods are made by now": (jobset(), [of_job()], pods("bert-node-1-0-x", "bert-node-1-1-y"), ()),
    "pods of another Job are no comfort": (
        jobset(),
        [of_job()],
        pods("bert-node-0-0-x", "bert-node-0-1-y"),
        ("m",),
    ),
    "a Job of another JobSet": (jobset(), [of_job(name="bert-large-node-0")], [], ()),
    "it is long ago": (jobset(), [of_job(last=OLD)], [], ()),
    "without a time": (jobset(), [of_job(last="")], [], ()),
    "the newest first, each once": (
        jobset(),
        [of_job("b", "2026-01-01T00:08:00Z"), of_job("a"), of_job("a", "2026-01-01T00:07:00Z")],
        [],
        ("a", "b"),
    ),
    "a JobSet that could not make its Jobs": (
        jobset(),
        [Refusal("JobSet", "bert", "denied", RECENT)],
        [],
        ("denied",),
    ),
    "a JobSet that has them": (jobset(active=1), [Refusal("JobSet", "bert", "denied", RECENT)], [], ()),
}


@pytest.mark.parametrize("sentence", CASES)
def test_standing(sentence):
    seen, told, there, want = CASES[sentence]
    assert standing(seen, told, there, now=NOW) == want


EVENTS = {
    "a Job whose pods are refused": ("FailedCreate", Refusal("Job", "j", "quota", RECENT)),
    "a JobSet whose claims are refused": ("PVCCreationFailed", Refusal("Job", "j", "quota", RECENT)),
    "something else": ("BackoffLimitExceeded", None),
}


@pytest.mark.parametrize("sentence", EVENTS)
def test_refusal(sentence):
    reason, want = EVENTS[sentence]
    event = {
        "involvedObject": {"kind": "Job", "name": "j"},
        "reason": reason,
        "message": "Error creating: quota",
        "lastTimestamp": RECENT,
    }
    assert refusal(event) == want
