"""YAML as Kubernetes reads it; a mistake has a place."""

import pytest

from kfp_trainer.runtime_operator.cli.yaml_documents import DEEPEST, MOST_VALUES, read_yaml
from kfp_trainer.runtime_operator.errors import SpecError

READ = {
    "several documents, with their places": ("a: 1\n---\nb: 2\n", [({"a": 1}, "f:1:1"), ({"b": 2}, "f:3:1")]),
    "empty documents are none": ("---\n---\na: 1\n---\n# nothing\n", [({"a": 1}, "f:3:1")]),
    "a time stays text": ("a: 2026-01-01T00:00:00Z", [({"a": "2026-01-01T00:00:00Z"}, "f:1:1")]),
    "a date stays text": ("a: 2026-01-01", [({"a": "2026-01-01"}, "f:1:1")]),
    "an equals sign is text": ("a: =", [({"a": "="}, "f:1:1")]),
    "None is text": ("a: None", [({"a": "None"}, "f:1:1")]),
    "keys are text": ("1: a\ntrue: b\n1.5: c", [({"1": "a", "true": "b", "1.5": "c"}, "f:1:1")]),
    "an alias is what it stands for": ("a: &x [1]\nb: *x", [({"a": [1], "b": [1]}, "f:1:1")]),
    "own keys go before merged ones": (
        "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}\nc: {k: 4, <<: *x}",
        [({"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}, "c": {"k": 4, "l": 2}}, "f:1:1")],
    ),
    "JSON is YAML": ('{"a": [true, null, 1.5]}', [({"a": [True, None, 1.5]}, "f:1:1")]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("sentence", READ)
def test_read_yaml(sentence):
    text, want = READ[sentence]
    assert list(read_yaml(text, "f")) == want


REFUSED = {
    "a bracket that is not closed": (
        "a: [1,\n b",
        "f:3:1: while parsing a flow sequence did not find expected",
    ),
    "a tab where blanks belong": ("a:\n\tb: 1", "f:2:1: while scanning for the next token found character"),
    "a key that stands twice": ("a: 1\nb:\n  c: 1\n  c: 2", "f:4:3: the key 'c' stands twice"),
    "keys that are the same text": ("1: a\n'1': b", "f:2:1: the key '1' stands twice"),
    "a key that is a list": ("? [a]\n: b", "f:1:3: a key must be text"),
    "a key that is nothing": ("? null\n: b", "f:1:3: a key must be text"),
    "a list": ("- 1", "f:1:1: a document must be a mapping with apiVersion and kind, got a list"),
    "a word": ("---\nhello", "f:2:1: a document must be a mapping with apiVersion and kind, got 'hello'"),
    "an alias of nothing": ("a: *x", "f:1:4: found undefined alias"),
    "a value that contains itself": (
        "a: &x [*x]",
        f"f:1:4: nested too deeply or within itself, at most {DEEPEST}",
    ),
    "brackets without end": (
        "a: " + "[" * 100_000,
        f"f:1:103: nested too deeply, at most {DEEPEST} levels are read",
    ),
    "binary": ("a: !!binary aGk=", "f:1:4: a value of type binary can't stand in an object"),
    "a set": ("a: !!set {b}", "f:1:4: a value of type set can't stand in an object"),
    "a program": (
        "a: !!python/object:os.system b",
        "f:1:4: a value of type os.system can't stand in an object",
    ),
    "infinity": ("a: .inf", "f:1:4: '.inf' is no number that JSON can hold"),
    "a number that is too big": ("a: 1.0e+999", "f:1:4: '1.0e+999' is no number that JSON can hold"),
    "no number although it says so": ("a: !!int b", "f:1:4: 'b' is no int"),
    "no truth although it says so": ("a: !!bool b", "f:1:4: 'b' is no bool"),
    "merged with a number": ("a: {<<: 3}", "f:1:9: while constructing a mapping expected a mapping"),
    "a control character": (
        "a: 1\nbc: \x07",
        "f:2:5: a character that YAML does not allow: control characters",
    ),
    "YAML of another age": ("%YAML 9.9\n---\na: 1", "f:1:1: found incompatible YAML document"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_mistake_has_a_place(sentence):
    text, want = REFUSED[sentence]
    with pytest.raises(SpecError) as caught:
        list(read_yaml(text, "f"))
    assert str(caught.value).startswith(want)
    assert "\n" not in str(caught.value)


def test_aliases_that_would_fill_the_memory_are_refused():
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(SpecError, match=f"more than {MOST_VALUES} values once its aliases are written out"):
        list(read_yaml("\n".join(laughs), "f"))
