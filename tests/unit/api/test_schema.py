from __future__ import annotations

import hashlib
import json

import pytest

from kfp_trainer.runtime_operator.api import ClusterTrainingRuntime, TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.kube import PLACES, kube_schema
from kfp_trainer.runtime_operator.api.schema import kind_schema

# sha256 over the schemas of the CRDs of Trainer v2.3.0 without descriptions, as JSON with sorted keys.
RUNTIME = "2e7f454c502b5a43e6aa9cfed04e1c049d214461ca8ed1ad026c7aedeaa99805"
UPSTREAM = {
    TrainJob: "5ad03a420e6c22e5d468457e424dd7711346efb7bc442babd4a99419f48695d6",
    TrainingRuntime: RUNTIME,
    ClusterTrainingRuntime: RUNTIME,
}


@pytest.mark.parametrize("kind", UPSTREAM)
def test_upstreams_schema_is_upstreams_to_the_last_keyword(kind):
    text = json.dumps(kind_schema(kind, compat="upstream"), sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == UPSTREAM[kind]


def _at(schema, path):
    for name in path.split("."):
        schema = schema["properties"][name.removesuffix("[]")]
        schema = schema["items"] if name.endswith("[]") else schema
    return schema


OURS = {
    "a lower bound for nodes": ("spec.trainer.numNodes", {"minimum": 1}, {"minimum": None}),
    "time to live": ("spec.ttlSecondsAfterFinished", {"type": "integer", "minimum": 0}, None),
    "a deadline for the start": ("spec.startDeadlineSeconds", {"format": "int64", "minimum": 1}, None),
    "when it started": ("status.startTime", {"format": "date-time"}, None),
    "when it ended": ("status.completionTime", {"format": "date-time"}, None),
    "why it waits": ("status.why", {"type": "string", "maxLength": 4096}, None),
    "overrides of 2.0": ("spec.podSpecOverrides", {"maxItems": 16}, None),
    "overrides of 2.1": ("spec.podTemplateOverrides", {"maxItems": 16}, None),
}


@pytest.mark.parametrize("sentence", OURS)
def test_our_schema_of_a_job_adds(sentence):
    path, ours, upstream = OURS[sentence]
    parent, _, name = path.rpartition(".")
    assert ours.items() <= _at(kind_schema(TrainJob), path).items()
    before = _at(kind_schema(TrainJob, compat="upstream"), parent)["properties"]
    assert (name not in before) if upstream is None else ("minimum" not in before[name])


OURS_IN_RUNTIMES = {
    "more MPI implementations and no empty one": (
        "spec.mlPolicy.mpi.mpiImplementation",
        {"enum": ["OpenMPI", "Intel", "MPICH"], "default": "OpenMPI"},
    ),
    "processes as a number or a word": (
        "spec.mlPolicy.torch.numProcPerNode",
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    "elastic bounds": ("spec.mlPolicy.torch.elasticPolicy.minNodes", {"minimum": 1}),
    "a smaller gang": ("spec.podGroupPolicy.minNodes", {"minimum": 1, "format": "int32"}),
}


@pytest.mark.parametrize("sentence", OURS_IN_RUNTIMES)
def test_our_schema_of_a_runtime_adds(sentence):
    path, ours = OURS_IN_RUNTIMES[sentence]
    assert ours.items() <= _at(kind_schema(TrainingRuntime), path).items()


def test_every_field_of_ours_is_described_and_none_of_upstreams():
    spec = kind_schema(TrainJob)["properties"]["spec"]
    assert all(field["description"].endswith(".") for field in spec["properties"].values())
    assert "description" not in json.dumps(kind_schema(TrainJob, compat="upstream"))


def test_no_rule_compares_with_the_old_value_below_an_atomic_list():
    override = _at(kind_schema(TrainJob), "spec.podSpecOverrides[]")
    assert "oldSelf" not in json.dumps(override)
    patch = _at(kind_schema(TrainJob), "spec.runtimePatches[]")
    assert "oldSelf" in json.dumps(patch)


@pytest.mark.parametrize("name", PLACES)
def test_every_schema_of_kubernetes_is_an_object_without_descriptions(name):
    schema = kube_schema(name)
    assert schema["type"] == "object"
    assert "properties" in schema
    assert not isinstance(schema.get("description"), str)
