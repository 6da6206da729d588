"""What the models are asked, from the rows that people have."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.evaluate.questions import read_questions

CHAT = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "4"},
]
ROWS = {
    "a prompt and a completion": ({"prompt": "2+2?", "completion": "4"}, "2+2?", "4", ()),
    "an instruction and its output": ({"instruction": "Add", "input": "2 2", "output": "4"}, None, "4", ()),
    "a conversation": ({"messages": CHAT}, "user: hi\nassistant: hello\nuser: 2+2?", "4", ()),
    "choices, the right one by its number": (
        {"question": "2+2?", "choices": ["3", "4"], "answer": 1}, "2+2?", "4", ("3", "4")),
    "choices, the right one by its words": (
        {"question": "2+2?", "choices": ["3", "4"], "answer": "4"}, "2+2?", "4", ("3", "4")),
}  # fmt: skip


def written(folder: Path, *rows: object, name: str = "eval.jsonl") -> Path:
    (folder / name).write_text("\n".join(json.dumps(row) for row in rows))
    return folder


@pytest.mark.parametrize("sentence", ROWS)
def test_rows(sentence: str, tmp_path: Path) -> None:
    row, shown, expected, choices = ROWS[sentence]
    (question,) = read_questions(written(tmp_path, row), limit=None)
    assert shown is None or question.shown == shown
    assert (question.expected, question.choices) == (expected, choices)


WRONG = {
    "one choice is no choice": ({"question": "?", "choices": ["a"], "answer": 0}, "is no multiple choice"),
    "no question": ({"choices": ["a", "b"], "answer": 0}, "is no multiple choice"),
    "an answer that is none of them": (
        {"question": "?", "choices": ["a", "b"], "answer": 2},
        "answer 2 is none of its 2 choices",
    ),
    "an answer in other words": (
        {"question": "?", "choices": ["a", "b"], "answer": "c"},
        'answer "c" is none of its 2 choices',
    ),
    "preference pairs have answers": ({"text": "only text"}, "has no answer"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_rows_that_cannot_be_asked(sentence: str, tmp_path: Path) -> None:
    row, words = WRONG[sentence]
    with pytest.raises(SpecError, match=words):
        read_questions(written(tmp_path, row), limit=None)


def test_the_first_rows_are_taken(tmp_path: Path) -> None:
    rows = [{"prompt": f"{n}?", "completion": "x"} for n in range(9)]
    assert [each.shown for each in read_questions(written(tmp_path, *rows), limit=2)] == ["0?", "1?"]


def test_a_file_by_itself_is_held_out(tmp_path: Path) -> None:
    file = written(tmp_path, {"prompt": "?", "completion": "x"}, name="rows.jsonl") / "rows.jsonl"
    assert len(read_questions(file, limit=None)) == 1


def test_a_folder_without_held_out_rows_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, {"prompt": "?", "completion": "x"}, name="train.jsonl")
    with pytest.raises(SpecError, match="has no split eval, it has train"):
        read_questions(folder, limit=None)
