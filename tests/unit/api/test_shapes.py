from __future__ import annotations

from kfp_trainer.runtime_operator.api.shapes import at, items, mapping, named


def test_a_field_of_another_shape_is_as_good_as_none():
    assert (mapping({"a": 1}), mapping([1]), mapping(None)) == ({"a": 1}, {}, {})
    assert (items([1]), items((1,)), items("ab"), items(None)) == ([1], (1,), (), ())
    assert at({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert at({"a": [1]}, "a", "b") == {}
    assert at({"a": {"b": 1}}, "a", "b") == {}


def test_the_first_item_of_a_name_is_found():
    assert named([{"name": "a"}, 3, {"name": "b"}, {"name": "b"}], "b") == 2
    assert named([{"name": "a"}], "b") is None
    assert named("b", "b") is None
