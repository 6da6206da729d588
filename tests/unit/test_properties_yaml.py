"""Whatever stands in a file, the answer is the objects or a sentence: never a traceback.

Good documents (the conformance inputs) are spoilt in six ways, each way by its own dice. A document may
survive that and be accepted; it may be refused; nothing else may happen.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.runtime_operator.cli.main import run
from tests.conformance.__main__ import CASES
from tests.counts import count

VERBS = ("render", "validate", "explain")
SOURCES = sorted(CASES.glob("*.yaml"))
ODD: list[Any] = [None, True, 0, -1, 1.5, 1 << 70, "", "x", "1Gi", "é" * 70, "x" * 600, "a\nb", "\U0001f600"]
ODD += [
    [],
    {},
    [None],
    [[]],
    [{}],
    ["a", "a"],
    {"a": None},
    {"name": 7},
    [{"name": "x"}, {"name": "x"}],
    {"": {}},
]
MARKS = [
    "\t",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a ",
    "!!binary ",
    "!x ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "\x00",
    "---\n",
    "<<: ",
]


def documents(dice: random.Random) -> list[dict[str, Any]]:
    path = dice.choice(SOURCES)
    return copy.deepcopy(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["input"])


def text_of(found: list[Any]) -> str:
    return yaml.safe_dump_all(found, allow_unicode=True)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a document with every key it has."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in list(pairs):
        yield value, key
        yield from places(below)


def a_value_of_another_kind(dice: random.Random) -> bytes:
    found = documents(dice)
    for _ in range(dice.randint(1, 3)):
        holder, key = dice.choice(list(places(found)))
        holder[key] = copy.deepcopy(dice.choice(ODD))
    return text_of(found).encode()


def a_field_elsewhere(dice: random.Random) -> bytes:
    found = documents(dice)
    for _ in range(dice.randint(1, 4)):
        held = [pair for pair in places(found) if isinstance(pair[0], dict)]
        holder, key = dice.choice(held)
        value = holder.pop(key)
        target, _ = dice.choice([pair for pair in places(found) if isinstance(pair[0], dict)] or held)
        target[dice.choice([key, f"{key}x", "name", "spec", "env", "template"])] = value
    return text_of(found).encode()


def lines_lost_doubled_and_shifted(dice: random.Random) -> bytes:
    lines = text_of(documents(dice)).splitlines()
    for _ in range(dice.randint(1, 5)):
        at = dice.randrange(len(lines))
        lines[at : at + 1] = dice.choice([[], [lines[at]] * 2, [f"  {lines[at]}"], [lines[at].lstrip()]]) or [
            ""
        ]
    return "\n".join(lines).encode()


def marks_of_yaml_anywhere(dice: random.Random) -> bytes:
    text = text_of(documents(dice))
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text))
        text = text[:at] + dice.choice(MARKS) + text[at + dice.randint(0, 2) :]
    return text.encode()


def bytes_changed(dice: random.Random) -> bytes:
    content = bytearray(text_of(documents(dice)).encode())
    for _ in range(dice.randint(1, 8)):
        content[dice.randrange(len(content))] = dice.randrange(256)
    return bytes(content[: dice.randint(1, len(content))] if dice.random() < 0.3 else content)


def no_document_at_all(dice: random.Random) -> bytes:
    if dice.random() < 0.5:
        return dice.randbytes(dice.randint(0, 400))
    return "".join(
        dice.choice([*MARKS, "a", "\n", "kind", "0", " "]) for _ in range(dice.randint(0, 60))
    ).encode()


WAYS: list[Callable[[random.Random], bytes]] = [
    a_value_of_another_kind,
    a_field_elsewhere,
    lines_lost_doubled_and_shifted,
    marks_of_yaml_anywhere,
    bytes_changed,
    no_document_at_all,
]


@pytest.mark.parametrize("spoil", WAYS)
def test_a_spoilt_file_is_answered_with_a_sentence(
    spoil: Callable[[random.Random], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.yaml"
    wrong = []
    codes = set()
    for seed in range(count(500, sampled=60)):
        dice = random.Random(f"{spoil.__name__} {seed}")
        path.write_bytes(spoil(dice))
        code = run([dice.choice(VERBS), "-f", str(path), *dice.choice([[], ["-o", "json"]])])
        out, err = capsys.readouterr()
        codes.add(code)
        told = code == 0 or "kfp-trainer: " in err or '"errors": [' in out
        if code not in (0, 2) or "bug" in err or not told:
            wrong.append((seed, code, err[-300:]))
    assert wrong == []
    assert 2 in codes, "nothing was spoilt"
