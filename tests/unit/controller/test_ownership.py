"""Same name, another uid: a namesake's."""

import pytest

from kfp_trainer.runtime_operator.controller.ownership import (
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
    child = {"metadata": {"ownerReferences": owners}}
    assert (is_ours(child, JOB), is_owned(child, JOB)) == (ours, owned)


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
