from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api.metadata import metadata_errors, metadata_shape

CASES = {
    "a plain name": ({"name": "bert-2"}, set()),
    "a name to be made": ({"generateName": "bert-"}, set()),
    "no name": ({}, {("metadata.name", "name or generateName is required")}),
    "capitals": ({"name": "Bert"}, {("metadata.name", "a lowercase RFC 1123 subdomain must consist")}),
    "a number": ({"name": 7}, {("metadata.name", "must be a string, got 7: put it in quotes")}),
    "a namespace that is a number": (
        {"name": "a", "namespace": 7},
        {("metadata.namespace", "must be a string, got 7: put it in quotes")},
    ),
    "no namespace": ({"name": "a", "namespace": None, "labels": None}, set()),
    "a very long name": ({"name": "a" * 254}, {("metadata.name", "must be no more than 253 bytes")}),
    "good labels": (
        {"name": "a", "labels": {"a.io/b_c": "X.y", "n": ""}, "annotations": {"x/Y": "any thing"}},
        set(),
    ),
    "labels that are a list": (
        {"name": "a", "labels": ["x"]},
        {("metadata.labels", "must be a map of strings, got ['x']")},
    ),
    "a number as a label": (
        {"name": "a", "labels": {"n": 1}},
        {("metadata.labels[n]", "must be a string, got 1: put it in quotes")},
    ),
    "a value with a blank": (
        {"name": "a", "labels": {"n": "x y"}},
        {("metadata.labels", "a valid label must be")},
    ),
    "a long value": (
        {"name": "a", "labels": {"n": "x" * 64}},
        {("metadata.labels", "must be no more than 63 bytes")},
    ),
    "a key with a blank": (
        {"name": "a", "labels": {"x y": ""}},
        {("metadata.labels", "name part must consist of")},
    ),
    "a long key": (
        {"name": "a", "labels": {"x" * 64: ""}},
        {("metadata.labels", "name part must be no more than 63")},
    ),
    "a prefix that is no domain": (
        {"name": "a", "annotations": {"a_b/c": ""}},
        {("metadata.annotations", "prefix part a lowercase RFC 1123 subdomain")},
    ),
    "too much": (
        {"name": "a", "annotations": {"a": "x" * 256 * 1024}},
        {("metadata.annotations", "may not be more than 262144 bytes")},
    ),
    "metadata that is a list": ([], {("metadata.name", "name or generateName is required")}),
}


@pytest.mark.parametrize("sentence", CASES)
def test_metadata_of_any_object(sentence):
    metadata, want = CASES[sentence]
    found = [*metadata_shape({"metadata": metadata}), *metadata_errors({"metadata": metadata})]
    assert {error.field for error in found} == {field for field, _ in want}
    assert all(any(error.detail.startswith(start) for _, start in want) for error in found)
    assert len(found) == len(want)
