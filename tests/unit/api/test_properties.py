"""What must hold for every document: walker and schema agree, judging changes nothing, nothing crashes.

Documents are drawn from our own schema with a fixed seed, mostly right, here and there wrong in type, bound
or spelling, so that both verdicts are common. The schema's verdict is that of jsonschema-rs.
"""

from __future__ import annotations

import copy
import random
from functools import cache

import jsonschema_rs
import pytest
import yaml

from kfp_trainer.runtime_operator.api import (
    ClusterTrainingRuntime,
    TrainingRuntime,
    TrainJob,
    check,
    check_runtime,
    modernise,
    read,
    stamp_patches,
)
from kfp_trainer.runtime_operator.api.conform import conform
from kfp_trainer.runtime_operator.api.node import kind_node
from kfp_trainer.runtime_operator.api.runtime_notices import runtime_notices
from kfp_trainer.runtime_operator.api.schema import kind_schema
from kfp_trainer.runtime_operator.errors import SpecError

KINDS = (TrainJob, TrainingRuntime, ClusterTrainingRuntime)
ODD = [None, True, 0, -1, 1.5, 2.0, 1 << 40, 1 << 70, "", "x", "node", "bad quantity", "é" * 70, "x" * 501]
ODD += [
    [],
    {},
    ["a", "a"],
    [1],
    [None],
    [{}],
    {"a": None},
    {"name": 7},
    [{"name": "x"}, {"name": "x"}],
    {1: 2},
]
WORDS = ["a", "node", "x-y", "", "10Gi", "hf://x/y", "True", "auto", "acme.io/x", "launcher"]
NUMBERS = [0, 1, 2, 5, 60, -1, 101]


def _draw(node, dice, depth=0):
    """A value for a place of the schema."""
    if dice.random() < 0.02:
        return copy.deepcopy(dice.choice(ODD))
    if "enum" in node.keywords:
        return dice.choice(node.keywords["enum"])
    kind = node.types[0] if node.types else "object"
    if kind == "array":
        return [_draw(node.items, dice, depth + 1) for _ in range(dice.choice([0, 1, 1, 2]))]
    if kind != "object":
        if node.keywords.get("format") == "date-time":
            return "2026-01-01T00:00:00Z"
        return {"string": dice.choice(WORDS), "integer": dice.choice(NUMBERS), "boolean": True}[kind]
    drawn = {f"k{number}": _draw(node.extra, dice) for number in range(dice.choice([0, 1])) if node.extra}
    likely = 0.4 if depth < 5 else 0.12
    for name, below in node.properties.items():
        if name in node.keywords.get("required", ()) or dice.random() < likely:
            drawn[name] = _draw(below, dice, depth + 1)
    if dice.random() < 0.02:
        drawn["typo"] = 1
    return drawn


def _documents(kind, count, *, seed=7):
    dice, node = random.Random(f"{kind.__name__} {seed}"), kind_node(kind)
    for _ in range(count):
        yield {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": kind.__name__,
            "metadata": {"name": dice.choice(["bert", "a" * 40, "Bad", "9"])},
            "spec": _draw(node.properties["spec"], dice),
        }


BITS = {"int32": 31, "int64": 63}


def _json_schema(schema):
    """A structural schema as JSON Schema: integers have a width, and no `$` stands before a line break."""
    out = {
        key: value
        for key, value in schema.items()
        if not key.startswith("x-") and key not in ("default", "format")
    }
    if schema.get("type") == "integer":
        bound = 1 << BITS.get(schema.get("format", "int64"), 63)
        out["minimum"] = max(-bound, schema.get("minimum", -bound))
        out["maximum"] = min(bound - 1, schema.get("maximum", bound - 1))
    for key in ("items", "additionalProperties"):
        if key in schema:
            out[key] = _json_schema(schema[key])
    if "properties" in schema:
        out["properties"] = {name: _json_schema(one) for name, one in schema["properties"].items()}
    return out


@cache
def _validator(kind):
    return jsonschema_rs.Draft202012Validator(_json_schema(kind_schema(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_walker_and_the_schema_agree(kind):
    verdicts = []
    for document in _documents(kind, 300):
        stored = check(document).stored
        ours = not any(conform(kind_node(kind), stored))
        assert ours == _validator(kind).is_valid(stored), document
        verdicts.append(ours)
    assert 30 < sum(verdicts) < 270


@pytest.mark.parametrize("kind", KINDS)
def test_judging_is_pure_and_storing_is_final(kind):
    for document in _documents(kind, 100, seed=8):
        before = copy.deepcopy(document)
        first = check(document)
        assert check(document) == first
        assert document == before
        again = check(first.stored)
        assert (again.stored, again.unknown_fields) == (first.stored, ())
        assert again.errors == first.errors


@pytest.mark.parametrize("kind", KINDS)
def test_an_accepted_document_is_readable_and_may_stay_as_it_is(kind):
    accepted = 0
    for document in _documents(kind, 150, seed=9):
        checked = check(document)
        if checked.errors:
            continue
        accepted += 1
        assert read(checked.stored).name == document["metadata"]["name"]
        assert check(document, old=checked.stored).errors == ()
    assert accepted > 5


def _broken(line, dice):
    cut = dice.randrange(len(line) + 1)
    split = f"{line[:cut]}[{line[cut:]}"
    return dice.choice(["", line + line, f"  {line}", f"- {line}", line[:cut], split])


def _texts():
    """Five hundred broken files of each kind: good ones with lines lost, doubled, moved or cut."""
    dice = random.Random(11)
    for kind in KINDS:
        for document in _documents(kind, 500, seed=10):
            lines = yaml.dump(document, Dumper=yaml.CSafeDumper).splitlines()
            for _ in range(dice.randint(1, 3)):
                place = dice.randrange(len(lines))
                lines[place] = _broken(lines[place], dice)
            yield "\n".join(lines)


def _attempt(document):
    """Everything that may be asked of a document; only a SpecError may come out."""
    checked = check(document)
    check(document, old=document if isinstance(document, dict) else None)
    check(document, compat="upstream")
    if not isinstance(document, dict):
        return
    for ask in (
        lambda: check_runtime(document),
        lambda: runtime_notices(document),
        lambda: modernise(document),
    ):
        ask()
    stamp_patches(document, document, now="2026-01-01T00:00:00Z")
    try:
        read(document)
    except SpecError:
        assert checked.errors or document.get("kind") not in {kind.__name__ for kind in KINDS}


def test_no_broken_file_ends_in_a_traceback():
    read_at_all = 0
    for text in _texts():
        try:
            document = yaml.load(text, Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError):
            continue
        read_at_all += 1
        _attempt(document)
    assert read_at_all > 300


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_value_anywhere_near_the_top_is_refused_or_understood(kind, odd):
    for place in ("metadata", "spec", "status"):
        document = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": kind.__name__, place: odd}
        _attempt(document)
    for field in kind_node(kind).properties["spec"].properties:
        document = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": kind.__name__,
            "metadata": {"name": "a"},
            "spec": {field: odd},
        }
        _attempt(document)
