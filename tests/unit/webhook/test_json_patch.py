"""A JSON patch turns one document into the other, whatever they are, and says no more than it must."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.webhook.json_patch import json_patch

CASES: dict[str, tuple[Any, Any, list[Any]]] = {
    "nothing changes": ({"a": 1}, {"a": 1}, []),
    "a field comes": ({"a": {}}, {"a": {"b": 1}}, [{"op": "add", "path": "/a/b", "value": 1}]),
    "a field goes": ({"a": 1, "b": 2}, {"b": 2}, [{"op": "remove", "path": "/a"}]),
    "a value changes deep in a list": (
        {"a": [{"b": 1}, {"b": 2}]},
        {"a": [{"b": 1}, {"b": 3}]},
        [{"op": "replace", "path": "/a/1/b", "value": 3}],
    ),
    "a list grows": ({"a": [1]}, {"a": [1, 2]}, [{"op": "replace", "path": "/a", "value": [1, 2]}]),
    "a key has signs of its own in a path": (
        {},
        {"a/b~c": 1},
        [{"op": "add", "path": "/a~1b~0c", "value": 1}],
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_the_operations(sentence: str) -> None:
    before, after, want = CASES[sentence]
    assert list(json_patch(before, after)) == want


def applied(document: Any, operations: list[Any]) -> Any:
    root = {"": copy.deepcopy(document)}
    for operation in operations:
        at: Any = root
        steps = [
            step.replace("~1", "/").replace("~0", "~") for step in f"/{operation['path'][1:]}".split("/")
        ]
        steps = [""] + (steps[1:] if operation["path"] else [])
        for step in steps[:-1]:
            at = at[int(step)] if isinstance(at, list) else at[step]
        last: Any = int(steps[-1]) if isinstance(at, list) else steps[-1]
        if operation["op"] == "remove":
            del at[last]
        else:
            at[last] = operation["value"]
    return root[""]


JSON = st.recursive(
    st.integers(0, 2) | st.text("a/~0", max_size=2),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text("a/~1", max_size=2), below, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_it_leads_from_one_document_to_the_other(before: Any, after: Any) -> None:
    assert applied(before, list(json_patch(before, after))) == after
