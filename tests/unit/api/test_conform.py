"""Mistakes of type and bound, in the words of the API server v1.36, which said each of these expectations."""

from __future__ import annotations

import datetime

import pytest

from kfp_trainer.runtime_operator.api import TrainingRuntime, TrainJob
from kfp_trainer.runtime_operator.api.conform import conform, json_type
from kfp_trainer.runtime_operator.api.node import kind_node

INVALID, TYPE = "FieldValueInvalid", "FieldValueTypeInvalid"
REQUIRED, UNSUPPORTED = "FieldValueRequired", "FieldValueNotSupported"
LONG, MANY = "FieldValueTooLong", "FieldValueTooMany"


def _errors(node, document, old=None):
    return {(error.field, error.type, error.detail) for error in conform(node, document, old)}


def _typed(path, want, got):
    return (path, TYPE, f'{path} in body must be of type {want}: "{got}"')


def _ranged(path, form="with format int32"):
    return ("", INVALID, f"Checked value must be of type integer {form} in {path}")


def _least(path, bound):
    return (path, INVALID, f"{path} in body should be greater than or equal to {bound}")


NODES = "spec.trainer.numNodes"
GPU = "spec.trainer.resourcesPerNode.limits.nvidia.com/gpu"
TIER = "spec.podGroupPolicy.volcano.networkTopology.highestTierAllowed"
TIME = "status.trainerStatus.lastUpdatedTime"

NUMBERS = {
    "a whole number": (2, set()),
    "a whole number with a point": (2.0, set()),
    "zero": (0, {_least(NODES, 1)}),
    "a string": ("two", {_typed(NODES, "integer", "string")}),
    "a list": ([1], {_typed(NODES, "integer", "array")}),
    "a mapping": ({"a": 1}, {_typed(NODES, "int32", "")}),
    "true": (True, {_typed(NODES, "int32", "")}),
    "null": (None, {_typed(NODES, "integer", "null")}),
    "a fraction": (1.5, {_typed(NODES, "int32", "float64"), _ranged(NODES)}),
    "more than 32 bits": (1 << 31, {_ranged(NODES)}),
    "more than 64 bits": (10**20, {_typed(NODES, "int32", "float64"), _ranged(NODES)}),
}


@pytest.mark.parametrize("sentence", NUMBERS)
def test_a_number_of_nodes(job, sentence):
    value, want = NUMBERS[sentence]
    assert _errors(kind_node(TrainJob), job(trainer={"numNodes": value})) == want


QUANTITIES = {
    "a number": (2, set()),
    "a quantity": ("500m", set()),
    "no quantity": ("2 GPUs", "pattern"),
    "true": (
        True,
        {
            _typed(GPU, "integer,string", "boolean"),
            ("", INVALID, f'"{GPU}" must validate at least one schema (anyOf)'),
            _typed(GPU, "integer", "boolean"),
        },
    ),
    "a fraction": (
        2.5,
        {
            _typed(GPU, "integer,string", "number"),
            ("", INVALID, f'"{GPU}" must validate at least one schema (anyOf)'),
            _typed(GPU, "integer", "number"),
            ("", INVALID, f"Checked value must be of type integer (default format) in {GPU}"),
        },
    ),
    "null": (None, {_typed(GPU, "integer,string", "null")}),
}


@pytest.mark.parametrize("sentence", QUANTITIES)
def test_a_quantity(job, sentence):
    value, want = QUANTITIES[sentence]
    document = job(trainer={"resourcesPerNode": {"limits": {"nvidia.com/gpu": value}}})
    errors = _errors(kind_node(TrainJob), document)
    if want == "pattern":
        ((field, kind, detail),) = errors
        assert (field, kind) == (GPU, INVALID)
        assert detail.startswith(f"{GPU} in body should match '^(\\+|-)?")
    else:
        assert errors == want


TIMES = {
    "a moment": ("2026-02-28T10:20:30Z", set()),
    "a leap day and an offset": ("2024-02-29t10:20:30.123+02:00", set()),
    "a day that is not": ("2026-02-29T10:20:30Z", None),
    "a month that is not": ("2026-13-01T10:20:30Z", None),
    "the year zero has days too": ("0000-02-29T10:20:30Z", set()),
    "an hour that is not": ("2026-01-01T24:00:00Z", None),
    "a word": ('no"w', {(TIME, TYPE, f'{TIME} in body must be of type date-time: "no\\"w"')}),
    "a number": (7, {_typed(TIME, "date-time", "int64")}),
    "true": (True, {_typed(TIME, "date-time", "")}),
    "a list slips through, as it does in an API server": ([1], set()),
}


@pytest.mark.parametrize("sentence", TIMES)
def test_a_time(job, sentence):
    value, want = TIMES[sentence]
    document = job() | {"status": {"trainerStatus": {"lastUpdatedTime": value}}}
    if want is None:
        want = {(TIME, TYPE, f'{TIME} in body must be of type date-time: "{value}"')}
    assert _errors(kind_node(TrainJob), document) == want


ENV = "spec.trainer.env"
OTHERS = {
    "a string that is too short": (
        {"runtimeRef": {"name": ""}},
        {("spec.runtimeRef.name", INVALID, "spec.runtimeRef.name in body should be at least 1 chars long")},
    ),
    "a string that is too long, in letters": (
        {"trainer": {"image": "é" * 501}},
        {("spec.trainer.image", LONG, "may not be more than 500 bytes")},
    ),
    "a string that just fits": ({"trainer": {"image": "é" * 500}}, set()),
    "an item without its name": ({"trainer": {"env": [{"value": "x"}]}}, {(f"{ENV}[0].name", REQUIRED, "")}),
    "an item that is null": ({"trainer": {"env": [None]}}, {_typed(f"{ENV}[0]", "object", "null")}),
    "too many items": (
        {"trainer": {"args": ["x"] * 129}},
        {("spec.trainer.args", MANY, "must have at most 128 items")},
    ),
    "too many labels": (
        {"labels": {f"l{number}": "" for number in range(65)}},
        {("spec.labels", MANY, "must have at most 64 items")},
    ),
    "a value of a map": ({"labels": {"a": 1}}, {_typed("spec.labels.a", "string", "integer")}),
    "a date as YAML makes it": ({"labels": {"a": datetime.date(2026, 1, 1)}}, set()),
}


@pytest.mark.parametrize("sentence", OTHERS)
def test_a_job(job, sentence):
    spec, want = OTHERS[sentence]
    assert _errors(kind_node(TrainJob), job(**spec)) == want


def test_an_empty_status_is_refused_and_a_percentage_has_two_ends(job):
    document = job() | {"status": {}}
    assert _errors(kind_node(TrainJob), document) == {
        ("status", INVALID, "status in body should have at least 1 properties")
    }
    document["status"] = {"trainerStatus": {"progressPercentage": 101}}
    path = "status.trainerStatus.progressPercentage"
    assert _errors(kind_node(TrainJob), document) == {
        (path, INVALID, f"{path} in body should be less than or equal to 100")
    }


MODE = "spec.podGroupPolicy.volcano.networkTopology.mode"
RUNTIMES = {
    "an unknown word": ({"mode": "firm"}, {(MODE, UNSUPPORTED, 'supported values: "hard", "soft"')}),
    "a wrong type is held against the words as well": (
        {"mode": 7},
        {(MODE, UNSUPPORTED, 'supported values: "hard", "soft"'), _typed(MODE, "string", "integer")},
    ),
    "a number without a format": ({"highestTierAllowed": 10**20}, {_typed(TIER, "integer", "number")}),
}


@pytest.mark.parametrize("sentence", RUNTIMES)
def test_a_runtime(runtime, sentence):
    topology, want = RUNTIMES[sentence]
    document = runtime(podGroupPolicy={"volcano": {"networkTopology": topology}})
    assert want <= _errors(kind_node(TrainingRuntime), document)


def test_too_few_containers_are_refused(runtime):
    targets = [{"jobName": "a", "containerNames": []}]
    path = "spec.mlPolicy.torch.envInjection.targets[0].containerNames"
    document = runtime(mlPolicy={"torch": {"envInjection": {"targets": targets}}})
    assert _errors(kind_node(TrainingRuntime), document) == {
        (path, INVALID, f"{path} in body should have at least 1 items")
    }


def test_what_an_update_leaves_as_it_was_is_not_judged_again(job):
    node = kind_node(TrainJob)
    old = job(trainer={"numNodes": 0, "env": [{"value": "x"}, {"name": "A", "value": 1}]})
    new = job(trainer={"numNodes": 0, "env": [{"name": "A", "value": 1}, {"value": "x"}]}, suspend=7)
    assert {field for field, *_ in _errors(node, new, old)} == {"spec.suspend"}
    assert {field for field, *_ in _errors(node, new)} == {
        "spec.suspend",
        "spec.trainer.numNodes",
        "spec.trainer.env[0].value",
        "spec.trainer.env[1].name",
    }


def test_items_of_a_list_without_keys_are_judged_anew(job):
    node = kind_node(TrainJob)
    old = job(trainer={"args": ["a", 1]})
    assert {field for field, *_ in _errors(node, job(trainer={"args": ["b", 1]}), old)} == {
        "spec.trainer.args[1]"
    }


NAMES = [
    (None, "null"),
    (True, "boolean"),
    (1, "integer"),
    (1 << 63, "number"),
    (0.5, "number"),
    ("", "string"),
    ({}, "object"),
    ([], "array"),
    ((), "array"),
    (datetime.date(2026, 1, 1), "string"),
]


@pytest.mark.parametrize(("value", "name"), NAMES)
def test_values_have_the_names_of_json(value, name):
    assert json_type(value) == name
