"""The demo's instruction set: the same bytes each time, right tickets, and nothing to answer from memory."""

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset
from kfp_trainer.runtime_operator.workloads.demo_data import make_ticket_data
from kfp_trainer.runtime_operator.workloads.demo_data.tickets import Shop, Ticket
from kfp_trainer.runtime_operator.workloads.demo_data.writing import EVAL_ROWS, TRAIN_ROWS


@pytest.fixture(scope="module")
def tickets() -> dict[str, list[Ticket]]:
    shop = Shop(7)
    return {"train": list(islice(shop.training(), 640)), "eval": list(islice(shop.held_out(), 100))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_ticket_data(tmp_path_factory.mktemp("demo") / "tickets")


def rows(file: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in file.read_text().splitlines()]


def test_the_same_code_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = make_ticket_data(tmp_path / "again")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        file.name: file.read_bytes() for file in again.iterdir()
    }


def test_it_holds_as_many_rows_as_it_says(folder: Path) -> None:
    counts = {name: len(rows(folder / f"{name}.jsonl")) for name in ("train", "eval")}
    assert counts == {"train": TRAIN_ROWS, "eval": EVAL_ROWS}
    card = (folder / "README.md").read_text()
    assert f"| `train.jsonl` | {TRAIN_ROWS} |" in card
    assert f"| `eval.jsonl` | {EVAL_ROWS} |" in card
    assert "license: apache-2.0" in card


def test_every_row_is_a_question_and_the_ticket_in_json(folder: Path) -> None:
    for name in ("train", "eval"):
        for turns in rows(folder / f"{name}.jsonl"):
            assert [turn["role"] for turn in turns] == ["system", "user", "assistant"]
            ticket = json.loads(turns[2]["content"])
            assert list(ticket) == ["product", "order", "request", "call"]
            said = turns[1]["content"]
            assert ticket["product"] in said and ticket["request"] in said
            assert ticket["order"] == next(iter(re.findall(r"[A-Z]-\d{5}", said)), None)
            assert ticket["call"] == next(iter(re.findall(r"[A-Z][a-z]+day", said)), None)


def test_no_held_out_problem_of_a_product_stands_in_training(tickets: dict[str, list[Ticket]]) -> None:
    every = [*tickets["train"], *tickets["eval"]]
    assert max(Counter(problem_of(ticket) for ticket in every).values()) == 1


def problem_of(ticket: Ticket) -> str:
    sentences = re.split(r"(?<=[.?!]) ", ticket.message)
    return next(each for each in sentences if ticket.product in each)


def test_half_of_the_held_out_rows_are_of_new_words(tickets: dict[str, list[Ticket]]) -> None:
    seen = " ".join(ticket.message for ticket in tickets["train"])
    new = [ticket for ticket in tickets["eval"] if ticket.new_words]
    assert len(new) == len(tickets["eval"]) / 2
    assert not any(ticket.product in seen or f" {ticket.request}" in seen for ticket in new)
    assert not any(problem_of(ticket).replace(ticket.product, "{}") in seen for ticket in new)


def test_no_answer_can_be_guessed(tickets: dict[str, list[Ticket]]) -> None:
    assert Counter(ticket.line for ticket in tickets["train"]).most_common(1)[0][1] < TRAIN_ROWS // 50
    for name in ("order", "call"):
        silent = sum(getattr(ticket, name) is None for ticket in tickets["train"]) / TRAIN_ROWS
        assert 0.25 < silent < 0.6


def test_our_own_check_has_nothing_against_it(folder: Path, tmp_path: Path) -> None:
    report = check_dataset(CheckSettings(dataset=folder, output=tmp_path / "out"))
    assert report.accepted
    assert [finding for finding in report.findings if finding.outcome != "told"] == []
