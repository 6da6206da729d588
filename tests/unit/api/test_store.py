from __future__ import annotations

import copy

import pytest

from kfp_trainer.runtime_operator.api import TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.node import kind_node
from kfp_trainer.runtime_operator.api.store import store

RULED = {"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime"}
DEFAULTS = {"suspend": False, "managedBy": "trainer.kubeflow.org/trainjob-controller"}

JOBS = {
    "defaults are filled in": ({"runtimeRef": {"name": "x"}}, {"runtimeRef": {"name": "x"} | RULED}, ()),
    "a default stands in for null": (
        {"runtimeRef": {"name": "x", "kind": None}, "suspend": None},
        {"runtimeRef": {"name": "x"} | RULED},
        (),
    ),
    "null without a default is dropped": (
        {"runtimeRef": {"name": "x"}, "trainer": None},
        {"runtimeRef": {"name": "x"} | RULED},
        (),
    ),
    "unknown fields are dropped and named": (
        {"runtimeRef": {"name": "x"}, "typo": {"a": 1}, "trainer": {"env": [{"name": "A", "valeu": 1}]}},
        {"runtimeRef": {"name": "x"} | RULED, "trainer": {"env": [{"name": "A"}]}},
        ("spec.trainer.env[0].valeu", "spec.typo"),
    ),
    "whatever a map holds stays": (
        {"runtimeRef": {"name": "x"}, "trainer": {"resourcesPerNode": {"limits": {"a.b/c": 1}}}},
        {"runtimeRef": {"name": "x"} | RULED, "trainer": {"resourcesPerNode": {"limits": {"a.b/c": 1}}}},
        (),
    ),
    "a list where none belongs keeps no fields": (
        {"runtimeRef": {"name": [{"a": 1}, "b"]}},
        {"runtimeRef": {"name": [{}, "b"]} | RULED},
        ("spec.runtimeRef.name[0].a",),
    ),
}


@pytest.mark.parametrize("sentence", JOBS)
def test_a_job_is_stored(sentence):
    spec, want, unknown = JOBS[sentence]
    document = {"kind": "TrainJob", "metadata": {"name": "a", "creationTimestamp": None}, "spec": spec}
    before = copy.deepcopy(document)
    stored, found = store(kind_node(TrainJob), document)
    assert stored == {**before, "spec": DEFAULTS | want}
    assert found == unknown
    assert document == before


def test_a_misspelt_field_deep_in_a_container_is_found():
    container = {"name": "node", "resources": {"limit": {}}, "livenessProbe": {"httpGet": {"prot": 1}}}
    pod = {"template": {"spec": {"containers": [container]}}}
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": pod}}]}}
    _, unknown = store(
        kind_node(TrainingRuntime), {"kind": "TrainingRuntime", "spec": {"template": template}}
    )
    where = "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0]"
    assert unknown == (f"{where}.livenessProbe.httpGet.prot", f"{where}.resources.limit")


def test_what_nobody_reads_is_kept_as_it_is():
    torch = {"elasticPolicy": {"metrics": [{"type": "Resource", "resource": {"x": None}}]}}
    document = {"kind": "TrainingRuntime", "spec": {"mlPolicy": {"torch": torch}}}
    stored, unknown = store(kind_node(TrainingRuntime), document)
    assert stored["spec"]["mlPolicy"]["torch"] == torch
    assert unknown == ()
