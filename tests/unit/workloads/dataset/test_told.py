"""What refuses nothing and deserves a word: it is told with its row, and the data is accepted."""

import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset

ROWS = 120


def pair(number: int, **more: Any) -> dict[str, Any]:
    return {"prompt": f"What is number {number}?", "completion": f"It is {number}.", **more}


GOOD = [pair(number) for number in range(1, ROWS + 1)]


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


# sentence -> (files, settings, the rule, what is told)
TOLD: dict[str, tuple[dict[str, bytes], dict[str, Any], str, str]] = {
    "one prompt with two answers": (
        {"train.jsonl": lines([*GOOD, {**pair(3), "completion": "another"}])},
        {},
        "contradiction",
        "train.jsonl: row 121: has the prompt of train.jsonl: row 3 and another answer",
    ),
    "a held-out prompt that is trained on": (
        {"train.jsonl": lines(GOOD), "eval.jsonl": lines([{**pair(3), "completion": "another"}])},
        {},
        "leaked-prompt",
        "eval.jsonl: row 1: has the prompt of a training row (train.jsonl: row 3)",
    ),
    "a column that changes its type": (
        {
            "train.jsonl": lines(
                [*GOOD, pair(900, id=1), pair(901, id=2.5), pair(902, id="x"), pair(903, id=[])]
            )
        },
        {},
        "type-changes",
        "train.jsonl: row 123: has text in id, the rows before a number",
    ),
    "a key in a text": (
        {"train.jsonl": lines([*GOOD, pair(900, completion="AKIAABCDEFGHIJKLMNOP")])},
        {},
        "secret",
        "train.jsonl: row 121: the answer holds what begins 'AKIA' at character 1",
    ),
    "a byte order mark": (
        {"train.jsonl": b"\xef\xbb\xbf" + lines(GOOD)},
        {},
        "byte-order-mark",
        "train.jsonl: row 1: begins with a byte order mark",
    ),
    "a file without a split": (
        {"train.jsonl": lines(GOOD), "more.jsonl": lines(GOOD)},
        {},
        "ignored-file",
        "more.jsonl: names no split beside files that do",
    ),
    "few rows": ({"train.jsonl": lines(GOOD[:20])}, {}, "few-rows", "data: has 20 usable rows to train on"),
    "nothing to evaluate on": (
        {"train.jsonl": lines(GOOD)},
        {"eval_share": 0},
        "no-eval",
        "data: has no rows to evaluate on",
    ),
    "no model": (
        {"train.jsonl": lines(GOOD)},
        {},
        "no-model",
        "data: is measured in characters, tokens are not known",
    ),
}


@pytest.mark.parametrize("sentence", TOLD)
def test_what_is_told(sentence: str, tmp_path: Path) -> None:
    files, more, rule, words = TOLD[sentence]
    (tmp_path / "data").mkdir()
    for name, content in files.items():
        (tmp_path / "data" / name).write_bytes(content)
    given = {"dataset": tmp_path / "data", "output": tmp_path / "out", **more}
    report = check_dataset(CheckSettings.model_validate(given))
    assert report.accepted, report.refusals
    (finding,) = [one for one in report.findings if one.rule == rule]
    assert finding.outcome == "told"
    assert str(finding.examples[0]) == words


TEMPLATES = {
    "a template that forgets the answer": (
        "{% for m in messages if m['role'] == 'user' %}{{ m['content'] }}<|im_end|>{% endfor %}",
        ["answer-lost"],
        True,
    ),
    "a template that refuses a row": (
        "{% for m in messages %}{% if '7?' in m['content'] %}{{ raise_exception('no 7') }}{% endif %}"
        "{{ m['content'] + '<|im_end|>' }}{% endfor %}",
        ["template-refuses"],
        False,
    ),
    "no template": (None, ["no-template"], False),
}


@pytest.mark.parametrize("sentence", TEMPLATES)
def test_what_a_template_makes_of_rows(sentence: str, model: Path, tmp_path: Path) -> None:
    template, rules, accepted = TEMPLATES[sentence]
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model.iterdir():
        if file.name != "chat_template.jinja":
            (folder / file.name).write_bytes(file.read_bytes())
    if template:
        (folder / "chat_template.jinja").write_text(template)
    (tmp_path / "rows.jsonl").write_bytes(lines(GOOD))
    seen: list[tuple[str, int]] = []
    settings = CheckSettings(dataset=tmp_path / "rows.jsonl", model=folder, output=tmp_path / "out")
    report = check_dataset(settings, lambda split, rows: seen.append((split, rows)))
    assert [finding.rule for finding in report.findings] == rules
    assert report.accepted is accepted
    assert seen == [("train", ROWS)]


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "config.json").write_text('{"vocab_size": 100}')
    (tmp_path / "rows.jsonl").write_bytes(lines(GOOD))
    report = check_dataset(
        CheckSettings(dataset=tmp_path / "rows.jsonl", model=folder, output=tmp_path / "out")
    )
    assert [finding.rule for finding in report.refusals] == ["vocabulary"]
    assert "its config.json says 100, use the model's tokenizer" in report.refusals[0].sentences(1)[0]
