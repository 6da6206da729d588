"""Each CEL text and its Python twin, on the same values; the CEL side is Google's own library."""

from __future__ import annotations

from functools import cache

import pytest
from cel_expr_python import cel

from kfp_trainer.runtime_operator.api import ClusterTrainingRuntime, TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.rules import (
    AT_LEAST_ONE,
    ELASTIC_ORDER,
    FIXED,
    MANAGED_BY,
    NAME_FORMAT,
    NAME_LENGTH,
    NODES_OR_ELASTIC,
    NOT_NODE,
    ONE_GANG,
    ONE_POLICY,
    PREDICATES,
    STATUS_TIME,
    TORCH_PROCESSES,
    URI_FORMAT,
)
from kfp_trainer.runtime_operator.api.schema import kind_schema
from kfp_trainer.runtime_operator.api.wire import IMMUTABLE

NO_NAMESPACE = "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)"
STARTUP = next(text for text in PREDICATES if "startupPolicyOrder" in text)
IN_ORDER = {"startupPolicyOrder": "InOrder"}


def _named(*names):
    return [({"metadata": {"name": name}}, None) for name in names]


VALUES = {
    AT_LEAST_ONE: [(0, None), (1, None), (-1, None), (7, None)],
    ELASTIC_ORDER.cel: [
        ({}, None),
        ({"minNodes": 2}, None),
        ({"maxNodes": 2}, None),
        ({"minNodes": 2, "maxNodes": 2}, None),
        ({"minNodes": 3, "maxNodes": 2}, None),
    ],
    IMMUTABLE.cel: [
        (1, 1),
        (1, 2),
        ({"a": [1, {"b": "c"}]}, {"a": [1, {"b": "c"}]}),
        ({"a": [1]}, {"a": [2]}),
        (["a", "b"], ["b", "a"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
    MANAGED_BY.cel: [
        ("trainer.kubeflow.org/trainjob-controller", None),
        ("kueue.x-k8s.io/multikueue", None),
        ("", None),
        ("x", None),
    ],
    NAME_FORMAT.cel: _named("a", "a-b", "a1", "1a", "a-", "A", "a.b", "", "a\n", "a" * 70),
    NAME_LENGTH.cel: _named("a", "a" * 63, "a" * 64, "é" * 63),
    NODES_OR_ELASTIC.cel: [
        ({}, None),
        ({"numNodes": 1}, None),
        ({"numNodes": 1, "torch": {}}, None),
        ({"torch": {"elasticPolicy": {}}}, None),
        ({"numNodes": 1, "torch": {"elasticPolicy": {}}}, None),
    ],
    NOT_NODE.cel: [(["a", "node"], None), (["a"], None), ([], None), (["nodes"], None)],
    ONE_GANG.cel: [({}, None), ({"volcano": {}}, None), ({"volcano": {}, "coscheduling": {}}, None)],
    ONE_POLICY.cel: [({}, None), ({"jax": {}, "numNodes": 1}, None), ({"torch": {}, "flux": {}}, None)],
    STATUS_TIME.cel: [({}, None), ({"lastUpdatedTime": "x"}, None)],
    TORCH_PROCESSES.cel: [("auto", None), ("cpu", None), ("gpu", None), ("5", None), (5, None), (0, None)],
    URI_FORMAT.cel: [
        (text, None)
        for text in (
            "",
            "hf://a/b",
            "s3+x.y-z://b",
            "9x://a",
            "hf:/a",
            "hf://",
            "hf://a\nb",
            "hf://a\n",
            "/data",
        )
    ],
    STARTUP: [
        ({"replicatedJobs": []}, None),
        ({"startupPolicy": IN_ORDER, "replicatedJobs": [{}]}, None),
        ({"startupPolicy": IN_ORDER, "replicatedJobs": [{}, {"dependsOn": []}]}, None),
        ({"startupPolicy": {"startupPolicyOrder": "AnyOrder"}, "replicatedJobs": [{"dependsOn": []}]}, None),
        ({"startupPolicy": IN_ORDER}, None),
    ],
    NO_NAMESPACE: [
        ({"templates": []}, None),
        ({"templates": [{"metadata": {}}, {"metadata": {"namespace": ""}}]}, None),
        ({"templates": [{"metadata": {"namespace": "x"}}]}, None),
        ({"templates": [{}]}, None),
        ({}, None),
    ],
} | {
    rule.cel: [({}, {}), ({name: {}}, {name: {}}), ({name: {}}, {}), ({}, {name: {}})]
    for rule, name in ((rule, rule.field_path.removeprefix(".")) for rule in FIXED)
}


@cache
def _environment():
    return cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})


def _by_cel(text, value, old):
    result = _environment().compile(text).eval(data={"self": value, "oldSelf": old}).value()
    return result if isinstance(result, bool) else "no such key"


def _by_python(text, value, old):
    try:
        return PREDICATES[text](value, old)
    except KeyError:
        return "no such key"


@pytest.mark.parametrize("text", VALUES)
def test_a_rule_and_its_twin_say_the_same(text):
    said = [(_by_cel(text, value, old), _by_python(text, value, old)) for value, old in VALUES[text]]
    assert all(one == other for one, other in said), list(zip(VALUES[text], said, strict=True))
    assert {True, False} <= {one for one, _ in said}


def _texts(schema):
    yield from (rule["rule"] for rule in schema.get("x-kubernetes-validations", ()))
    for below in schema.get("properties", {}).values():
        yield from _texts(below)
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from _texts(schema[name])


def test_every_rule_of_every_schema_has_a_twin_and_no_twin_is_idle():
    kinds = (TrainJob, TrainingRuntime, ClusterTrainingRuntime)
    used = {
        text
        for kind in kinds
        for compat in (None, "upstream")
        for text in _texts(kind_schema(kind, compat=compat))
    }
    assert used == set(PREDICATES) == set(VALUES)
