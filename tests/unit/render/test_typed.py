"""What upstream's types lose, and what of env its copier knows."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render.typed import copied_env, typed

TYPED = {
    # a value: what upstream makes of it
    "a number that is zero": ({"failurePolicy": {"maxRestarts": 0}}, {"failurePolicy": {}}),
    "a flag that is off": ({"containers": [{"name": "a", "tty": False}]}, {"containers": [{"name": "a"}]}),
    "no replicas": ({"replicatedJobs": [{"name": "a", "replicas": 0}]}, {"replicatedJobs": [{"name": "a"}]}),
    "a mount that may be written": ({"volumeMounts": [{"readOnly": False}]}, {"volumeMounts": [{}]}),
    "a resource without a divisor": (
        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}},
    ),
    "a coordinator at zero": (
        {"coordinator": {"jobIndex": 0, "podIndex": 1}},
        {"coordinator": {"podIndex": 1}},
    ),
}
KEPT = {
    "a number that is not": {"failurePolicy": {"maxRestarts": 2}},
    "a pointer": {"volumes": [{"csi": {"readOnly": False}}]},
    "a required number": {"ports": [{"containerPort": 0}]},
    "a resource with its divisor": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}},
    "a user's own key": {"labels": {"tty": ""}},
    "a null": {"tty": None},
    "a pointer to zero": {"backoffLimit": 0, "suspend": False},
}


@pytest.mark.parametrize("sentence", TYPED)
def test_lost(sentence):
    given, want = TYPED[sentence]
    assert typed(given) == want


@pytest.mark.parametrize("sentence", KEPT)
def test_kept(sentence):
    assert typed(KEPT[sentence]) is KEPT[sentence]


COPIED = {
    "a value": ({"value": "1"}, {"value": "1"}),
    "a Secret": (
        {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
        {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
    ),
    "a field": (
        {"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
        {"valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ),
    "a resource": (
        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}},
    ),
    "a file": ({"valueFrom": {"fileKeyRef": {"key": "k"}}}, {"valueFrom": {}}),
}


@pytest.mark.parametrize("sentence", COPIED)
def test_copied_env(sentence):
    given, want = COPIED[sentence]
    assert list(copied_env([{"name": "A", **given}])) == [{"name": "A", **want}]
