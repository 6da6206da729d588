"""A shared dict stays as it is, whatever is changed beside it."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render.overlay import Container, Overlay

SOURCE = {
    "name": "node",
    "image": "a",
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "ports": [{"containerPort": 80}],
}


def put(each: Container) -> None:
    each.put("image", "b")
    each.put("command", ["x"])


CASES = {
    "nothing changes": (lambda each: None, {}),
    "a field is put": (put, {"image": "b", "command": ["x"]}),
    "a variable is replaced in its place": (
        lambda each: each.add_env([{"name": "A", "value": "3"}]),
        {"env": [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]},
    ),
    "a new variable comes last": (
        lambda each: each.add_env([{"name": "C", "value": "3"}]),
        {"env": [*SOURCE["env"], {"name": "C", "value": "3"}]},
    ),
    "a mount is added": (
        lambda each: each.add_mounts([{"name": "v", "mountPath": "/v"}]),
        {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    ),
    "a port that is open stays": (lambda each: each.add_port(80), {}),
    "a port is opened": (
        lambda each: each.add_port(81),
        {"ports": [{"containerPort": 80}, {"containerPort": 81}]},
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_changes(sentence):
    change, want = CASES[sentence]
    before = repr(SOURCE)
    each = Container(SOURCE)
    change(each)
    assert each.built() == {**SOURCE, **want}
    assert repr(SOURCE) == before


def test_what_does_not_change_is_shared():
    assert Container(SOURCE).built() is SOURCE
    assert Overlay(SOURCE).built() is SOURCE


def test_reading_sees_changes_first():
    each = Overlay(SOURCE)
    assert (each.get("image"), each.get("tty", 7)) == ("a", 7)
    each.put("image", "b")
    assert (each.get("image"), each.get("name")) == ("b", "node")
    each.put("image", "c")
    assert each.built() == {**SOURCE, "image": "c"}


def test_variables_by_name():
    each = Container(SOURCE)
    assert each.has_env(frozenset("AX"))
    assert not each.has_env(frozenset("X"))
    assert each.env("B") == {"name": "B", "value": "2"}
    assert each.env("X") is None
