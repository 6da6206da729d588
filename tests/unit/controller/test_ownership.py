"""Same name, another uid: a namesake's."""

import pytest

from kfp_trainer.runtime_operator.controller.ownership import (
    is_left_over,
    is_managed_elsewhere,
    is_ours,
    is_owned,
    is_suspended,
)

JOB = {"metadata": {"name": "bert", "uid": "new"}}

CHILDREN = {
    "owned by this job": ([{"uid": "new", "controller": True}], True, True),
    "owned by a job that had this name before": ([{"uid": "old", "controller": True}], False, False),
    "owned by nobody": ([], True, False),
    "without the field": (None, True, False),
    "an owner that does not control it does not count": ([{"uid": "other"}], True, False),
}


@pytest.mark.parametrize("sentence", CHILDREN)
def test_is_ours_and_is_owned(sentence):
    owners, ours, owned = CHILDREN[sentence]
    child = {"kind": "JobSet", "metadata": {"ownerReferences": owners}}
    assert (is_ours(child, JOB), is_owned(child, JOB)) == (ours, owned)


BEFORE, SINCE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z"
LEFT_OVER = {
    "a JobSet of before": ("JobSet", "bert", BEFORE, None, True),
    "a JobSet that was made since": ("JobSet", "bert", SINCE, None, False),
    "a JobSet of before that has an owner": ("JobSet", "bert", BEFORE, "old", False),
    "a snapshot of before": ("ConfigMap", "bert-runtime-snapshot", BEFORE, None, True),
    "a list of hosts of before, which is written anew": ("ConfigMap", "bert-hosts", BEFORE, None, False),
}


@pytest.mark.parametrize("sentence", LEFT_OVER)
def test_is_left_over(sentence):
    kind, name, made, owner, want = LEFT_OVER[sentence]
    owners = [{"uid": owner, "controller": True}] if owner else []
    metadata = {"name": name, "creationTimestamp": made, "ownerReferences": owners}
    job = {"metadata": {**JOB["metadata"], "creationTimestamp": "2026-01-01T00:00:01Z"}}
    child = {"kind": kind, "metadata": metadata}
    assert is_left_over(child, job) is want
    assert is_ours(child, job) is not (want or owner is not None)


MANAGERS = {
    "nobody named": ({}, False),
    "our own name": ({"managedBy": "trainer.kubeflow.org/trainjob-controller"}, False),
    "MultiKueue": ({"managedBy": "kueue.x-k8s.io/multikueue"}, True),
}


@pytest.mark.parametrize("sentence", MANAGERS)
def test_is_managed_elsewhere(sentence):
    spec, want = MANAGERS[sentence]
    assert is_managed_elsewhere({"spec": spec}) is want
    assert is_managed_elsewhere({}) is False


def test_is_suspended():
    assert is_suspended({"spec": {"suspend": True}})
    assert not is_suspended({"spec": {"suspend": False}})
    assert not is_suspended({})
