"""Rows are checked before anything heavy starts, and a wrong one is named by its line."""

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.rows import Row, find_rows, read_rows

GOOD = '{"prompt": "a", "completion": "b"}\n'
WRONG = {
    "an empty file": ("", "has no rows"),
    "a line that is not JSON": (GOOD + "{oops}\n", "line 2 is not JSON"),
    "a line that is a list": ("[1]\n", "line 1 is a list"),
    "a row without a completion": (
        GOOD + '\n{"prompt": "a"}\n',
        r"line 3 has no text for completion \(given only prompt\)",
    ),
    "a row of another form": ('{"text": "a"}\n', r"line 1 has no text for prompt \(given only text\)"),
    "an empty completion": ('{"prompt": "a", "completion": " "}\n', r"no text for completion \(given ' '\)"),
    "a completion that is a number": ('{"prompt": "a", "completion": 3}\n', r"for completion \(given 3\)"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_rows(sentence: str, tmp_path) -> None:
    text, words = WRONG[sentence]
    file = tmp_path / "train.jsonl"
    file.write_text(text)
    with pytest.raises(SpecError, match=words):
        read_rows(file)


def test_text_that_is_not_utf8(tmp_path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_bytes(b'{"prompt": "\xff"}')
    with pytest.raises(SpecError, match="is not UTF-8 text at byte 12"):
        read_rows(file)


def test_rows_keep_their_order(tmp_path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text(GOOD + "\n" + '{"prompt": "c", "completion": "d", "more": 1}\n')
    assert read_rows(file) == [Row("a", "b"), Row("c", "d")]


def test_a_dataset_is_a_folder_or_a_file(tmp_path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text(GOOD)
    assert find_rows(tmp_path, "train") == file == find_rows(file, "eval")


MISSING = {
    "no such dataset": ("none", "none does not exist, give a folder with eval.jsonl"),
    "a folder without the split": ("", "has no eval.jsonl, it holds other.csv"),
}


@pytest.mark.parametrize("sentence", MISSING)
def test_a_dataset_that_lacks_the_split(sentence: str, tmp_path) -> None:
    name, words = MISSING[sentence]
    (tmp_path / "other.csv").touch()
    with pytest.raises(SpecError, match=words):
        find_rows(tmp_path / name, "eval")
