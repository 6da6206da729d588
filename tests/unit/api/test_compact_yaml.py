from __future__ import annotations

import pytest
import yaml

from kfp_trainer.runtime_operator.api.compact_yaml import WIDTH, dump

LONG = ["x" * 50] * 20

CASES = {
    "scalars": {"a": 1, "b": True, "c": None, "d": 1.5, "e": "text"},
    "strings that YAML would take for something else": dict(
        enumerate(["yes", "No", "null", "1", "1.5", "", "y"])
    ),
    "strings with signs": {
        "a": "a: b",
        "b": "#x",
        "c": "'\"\\",
        "d": "é\n",
        "e": "a/b.c-d_e",
        "f": "2026-01-01",
    },
    "a short tree stands on one line": {"a": {"b": [1, {"c": "d"}], "e": {}, "f": []}},
    "a long list": {"a": LONG},
    "a long list in a list": {"a": [LONG, LONG]},
    "long mappings in a list": {"a": [{"b": LONG, "c": 1}, {"d": {"e": LONG}}]},
    "a long list of long strings": {"a": {"b": ["y" * (WIDTH + 1)]}},
    "an empty mapping": {},
}


@pytest.mark.parametrize("sentence", CASES)
def test_what_is_written_is_read_back(sentence):
    value = {str(key): one for key, one in CASES[sentence].items()}
    text = dump(value)
    assert (yaml.safe_load(text) or {}) == value
    assert dump(value) == text


def test_short_values_share_a_line_and_long_ones_do_not():
    assert dump({"a": {"b": 1, "c": ["d"]}}) == "a: {b: 1, c: [d]}\n"
    assert dump({"b": 1, "a": LONG}).count("\n") == len(LONG) + 2
