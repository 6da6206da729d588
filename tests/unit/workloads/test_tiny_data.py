"""The demo's rows are the same everywhere, and the held-out ones are really held out."""

import json
from itertools import islice
from random import Random

from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from kfp_trainer.runtime_operator.workloads.tiny.data import EVAL_ROWS, TRAIN_ROWS
from kfp_trainer.runtime_operator.workloads.tiny.messages import PROBLEMS, general, messages


def test_the_same_bytes_twice_and_nothing_held_out_is_trained_on(tmp_path) -> None:
    first, second = make_demo_data(tmp_path / "a"), make_demo_data(tmp_path / "b")
    rows = {}
    for split in ("train", "eval"):
        text = (first / f"{split}.jsonl").read_text()
        assert text == (second / f"{split}.jsonl").read_text()
        rows[split] = [json.loads(line) for line in text.splitlines()]
    assert (len(rows["train"]), len(rows["eval"])) == (TRAIN_ROWS, EVAL_ROWS)
    trained = {row["prompt"] for row in rows["train"]}
    assert len(trained) == TRAIN_ROWS
    assert not trained & {row["prompt"] for row in rows["eval"]}


def test_no_answer_is_common_enough_to_be_guessed(tmp_path) -> None:
    rows = [
        json.loads(line) for line in (make_demo_data(tmp_path / "a") / "eval.jsonl").read_text().splitlines()
    ]
    answers = [row["completion"] for row in rows]
    assert max(map(answers.count, answers)) <= 0.2 * EVAL_ROWS


def test_the_base_never_sees_a_label() -> None:
    random = Random(0)
    answers = [general(message, random)[1] for message in islice(messages(0), 500)]
    assert not any(" | " in answer or answer.split()[0] in PROBLEMS for answer in answers)
