"""What a check leaves behind: rows that training reads, a page, a document; the same for the same data."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset, load_rows
from kfp_trainer.runtime_operator.workloads.dataset.report import dataset_report
from kfp_trainer.runtime_operator.workloads.dataset.result import DatasetReport
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data

ROWS = 60


def chat(number: int, turns: int = 2) -> dict[str, Any]:
    roles = ["user", "assistant"] * (turns // 2)
    return {"messages": [{"role": role, "content": f"{role} {number} {at}"} for at, role in enumerate(roles)]}


def write(file: Path, rows: list[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def check(dataset: Path, output: Path, **more: Any) -> DatasetReport:
    return check_dataset(CheckSettings.model_validate({"dataset": dataset, "output": output, **more}))


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


# sentence -> (a row by its number, the form it is written in, how it is written)
FORMS: dict[str, tuple[Any, str, Any]] = {
    "one question and one answer": (
        lambda n: {"question": f"q {n}", "answer": f"a {n}", "id": n},
        "prompt_completion",
        lambda n: {"prompt": f"q {n}", "completion": f"a {n}"},
    ),
    "messages of one question and one answer": (
        chat,
        "prompt_completion",
        lambda n: {"prompt": f"user {n} 0", "completion": f"assistant {n} 1"},
    ),
    "messages of several turns": (lambda n: chat(n, 4), "messages", lambda n: chat(n, 4)),
    "plain text": (lambda n: {"text": f"t {n}", "url": "x"}, "text", lambda n: {"text": f"t {n}"}),
    "pairs": (
        lambda n: {"prompt": f"q {n}", "chosen": f"a {n}", "rejected": f"b {n}"},
        "preference",
        lambda n: {"prompt": f"q {n}", "chosen": f"a {n}", "rejected": f"b {n}"},
    ),
}


@pytest.mark.parametrize("sentence", FORMS)
def test_rows_are_written_in_one_form(sentence: str, tmp_path: Path) -> None:
    row, form, written = FORMS[sentence]
    dataset = write(tmp_path / "data.jsonl", [row(n) for n in range(ROWS)])
    report = check(dataset, tmp_path / "out", eval_share=0.2)
    assert report.accepted, report.refusals
    assert (report.form, report.data) == (form, tmp_path / "out" / "data")
    train, held = (lines(tmp_path / "out" / "data" / f"{split}.jsonl") for split in ("train", "eval"))
    assert report.written == {"train": len(train), "eval": len(held)}
    assert 4 <= len(held) <= 22
    everything = {json.dumps(written(n)) for n in range(ROWS)}
    assert {json.dumps(one) for one in train + held} == everything


def test_the_demos_data_passes_and_training_reads_what_is_written(tmp_path: Path, model: Path) -> None:
    data = make_demo_data(tmp_path / "demo")
    report = check(data, tmp_path / "out", model=model, allow="too-long,no-label")
    assert report.accepted
    for split in ("train", "eval"):
        written, given = tmp_path / "out" / "data" / f"{split}.jsonl", data / f"{split}.jsonl"
        assert list(load_rows(written)) == list(load_rows(given))


def test_written_rows_are_the_same_every_time(tmp_path: Path) -> None:
    dataset = write(tmp_path / "data.jsonl", [chat(n, 4) for n in range(ROWS)])
    for name in ("one", "two"):
        check(dataset, tmp_path / name)
    one, two = ((tmp_path / name / "data" / "train.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_held_out_row_stays_held_out_when_rows_are_added(tmp_path: Path) -> None:
    held = []
    for rows in (ROWS, 3 * ROWS):
        dataset = write(tmp_path / f"{rows}.jsonl", [chat(n, 4) for n in reversed(range(rows))])
        check(dataset, tmp_path / f"out{rows}", eval_share=0.2)
        held.append({json.dumps(one) for one in lines(tmp_path / f"out{rows}" / "data" / "eval.jsonl")})
    assert held[0] < held[1]


def test_a_test_split_is_what_is_evaluated_on_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path / "data" / "train.jsonl", [chat(n) for n in range(ROWS)])
    write(tmp_path / "data" / "test.jsonl", [chat(n) for n in range(100, 105)])
    assert check(tmp_path / "data", tmp_path / "out").written == {"train": ROWS, "eval": 5}
    write(tmp_path / "data" / "eval.jsonl", [chat(n) for n in range(200, 203)])
    assert check(tmp_path / "data", tmp_path / "out").written == {"train": ROWS, "eval": 3, "test": 5}


def test_a_refusal_leaves_the_rows_of_an_earlier_check(tmp_path: Path) -> None:
    dataset = write(tmp_path / "data.jsonl", [chat(n) for n in range(ROWS)])
    check(dataset, tmp_path / "out")
    before = (tmp_path / "out" / "data" / "train.jsonl").read_bytes()
    write(dataset, [chat(0), {"messages": []}] * ROWS)
    assert not check(dataset, tmp_path / "out").accepted
    assert (tmp_path / "out" / "data" / "train.jsonl").read_bytes() == before


OPTIONS: dict[str, tuple[dict[str, Any], list[Any], bool, list[tuple[str, str]]]] = {
    "a few duplicates are borne": ({}, [chat(1)], True, [("duplicate", "told")]),
    "none are if none shall be": ({"most_duplicates": 0}, [chat(1)], False, [("duplicate", "refused")]),
    "more are if more may be": (
        {"most_duplicates": 0.2}, [chat(1), chat(2), chat(3)], True, [("duplicate", "told")]
    ),
    "a rule that is allowed": (
        {"allow": "no-turns"}, [{"messages": []}], True, [("no-turns", "allowed")]
    ),
    "rows that are left out": (
        {"drop": "no-turns,duplicate"},
        [{"messages": []}, chat(1), chat(1)],
        True,
        [("duplicate", "dropped"), ("no-turns", "dropped")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("sentence", OPTIONS)
def test_what_is_borne_allowed_and_left_out(sentence: str, tmp_path: Path) -> None:
    more, rows, accepted, outcomes = OPTIONS[sentence]
    dataset = write(tmp_path / "data.jsonl", [chat(n) for n in range(200)] + rows)
    report = check(dataset, tmp_path / "out", **more)
    found = [(one.rule, one.outcome) for one in report.findings if one.rule != "no-model"]
    assert (report.accepted, found) == (accepted, outcomes)
    if accepted:
        kept = 200 + len(rows) - sum(one.rows for one in report.findings if one.outcome == "dropped")
        assert sum(report.written.values()) == kept - (sentence == "a rule that is allowed")


def test_turns_out_of_order_pass_if_a_person_says_so(tmp_path: Path) -> None:
    odd = {"messages": [{"role": "assistant", "content": "hello"}, *chat(1)["messages"]]}
    dataset = write(tmp_path / "data.jsonl", [odd, *(chat(n) for n in range(2, ROWS))])
    assert not check(dataset, tmp_path / "out").accepted
    report = check(dataset, tmp_path / "out", allow="role-order", eval_share=0)
    assert report.accepted
    assert odd in lines(tmp_path / "out" / "data" / "train.jsonl")
    assert odd["messages"] in [example.turns for example in load_rows(tmp_path / "out" / "data")]


def test_a_first_look_at_a_few_rows_writes_none(tmp_path: Path) -> None:
    dataset = write(tmp_path / "data.jsonl", [chat(n) for n in range(ROWS)] + [{"messages": []}])
    report = check(dataset, tmp_path / "out", limit=10)
    assert (report.accepted, report.rows, report.data) == (True, 10, None)
    assert not (tmp_path / "out" / "data").exists()


def test_the_document_is_the_report(tmp_path: Path, model: Path) -> None:
    dataset = write(tmp_path / "data.jsonl", [chat(n) for n in range(ROWS)] + [{"messages": []}])
    report = check(dataset, tmp_path / "out", model=model)
    assert DatasetReport.model_validate_json((tmp_path / "out" / "dataset_report.json").read_text()) == report
    assert report.metrics["rows"] == ROWS + 1
    assert report.metrics["problems"] == sum(finding.rows for finding in report.findings)


def test_the_page_fetches_nothing_and_shows_data_as_text(tmp_path: Path, model: Path) -> None:
    nasty = '<script src="https://x.test/"></script><img onerror=alert(1)>'
    rows = [{"prompt": f"{nasty} {n}", "completion": f"<b>{n}</b>"} for n in range(ROWS)]
    rows[5] = {"prompt": f"{nasty}", "completion": ""}
    dataset = write(tmp_path / "d<i>.jsonl", rows)
    report = check(dataset, tmp_path / "out", model=model, allow="no-label")
    page = (tmp_path / "out" / "dataset_report.html").read_text()
    assert page == dataset_report(report)
    tags = re.findall(r"<[^>]+>", page)
    assert not [tag for tag in tags if re.search(r"<script|<img|<b>|<i>|src=|href=|url\(|@import", tag)]
    assert "&lt;script src=" in page
    assert "row 6" in page


def test_a_report_of_nothing_that_can_be_read_is_a_page_too(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text("{oops\n")
    report = check(tmp_path / "data.jsonl", tmp_path / "out")
    assert not report.accepted
    assert [finding.rule for finding in report.refusals] == ["not-json"]
    assert "not JSON" in (tmp_path / "out" / "dataset_report.html").read_text()


MISUSES = {
    "no such dataset": ({"dataset": "none"}, "dataset: none does not exist"),
    "no such model": ({"model": "none"}, "model: none does not exist"),
    "columns that no row has": ({"columns": "prompt=Frage"}, "columns: no row has 'Frage'"),
    "columns that are no pairs": ({"columns": "prompt"}, "columns: must be NAME=NAME"),
    "a rule that is none": ({"allow": "dupes"}, "allow: 'dupes' is no rule, known are"),
    "a rule that no row breaks alone": ({"drop": "too-few-rows"}, "drop: 'too-few-rows' is about the whole"),
    "a setting that is none": ({"sequence_lenght": 3}, "did you mean sequence_length"),
}


@pytest.mark.parametrize("sentence", MISUSES)
def test_misuse_is_one_sentence(sentence: str, tmp_path: Path) -> None:
    more, words = MISUSES[sentence]
    dataset = write(tmp_path / "data.jsonl", [chat(n) for n in range(ROWS)])
    with pytest.raises(SpecError, match=words):
        check_dataset(parse_settings(CheckSettings, {"dataset": dataset, "output": tmp_path / "out", **more}))


def test_rows_can_be_had_without_a_check(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", [chat(n) for n in range(3)])
    examples = list(load_rows(tmp_path))
    assert [example.turns for example in examples] == [chat(n)["messages"] for n in range(3)]


def test_what_a_check_bears_can_be_had(tmp_path: Path) -> None:
    echo = {"messages": [{"role": role, "content": "same"} for role in ("user", "assistant")]}
    write(tmp_path / "train.jsonl", [*(chat(n) for n in range(150)), echo])
    (tmp_path / "loader.py").touch()
    assert check(tmp_path, tmp_path / "out", eval_share=0).accepted
    for folder in (tmp_path, tmp_path / "out" / "data"):
        assert echo["messages"] in [example.turns for example in load_rows(folder)]


LOADING = {
    "turns out of order": (
        "train",
        [chat(1), {"messages": chat(1)["messages"][1:]}],
        "row 2: messages.0. is 'assistant' at the beginning, expected system or user, let user and assistant",
    ),
    "a split that is not there": ("eval", [chat(1)], "has no rows of the split eval, it has train"),
    "a row that is none": (
        "train",
        [chat(1), {"messages": []}],
        "train.jsonl: row 2: messages is an empty list",
    ),
}


@pytest.mark.parametrize("sentence", LOADING)
def test_rows_that_cannot_be_had(sentence: str, tmp_path: Path) -> None:
    split, rows, words = LOADING[sentence]
    write(tmp_path / "train.jsonl", rows)
    with pytest.raises(SpecError, match=words):
        list(load_rows(tmp_path, split))
