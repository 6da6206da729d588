"""Files find their split by the names people give them; what is not read is told."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.dataset.files import find_files
from kfp_trainer.runtime_operator.workloads.dataset.split_names import split_of

ROW = b'{"prompt": "a", "completion": "b"}\n'
# sentence -> (files, the files of each split, the files that are told as not read)
FOLDERS: dict[str, tuple[list[str], dict[str, list[str]], list[str]]] = {
    "files named by their split": (
        ["train.jsonl", "validation.jsonl", "test.jsonl"],
        {"train": ["train.jsonl"], "eval": ["validation.jsonl"], "test": ["test.jsonl"]},
        [],
    ),
    "parts in the order of their numbers": (
        ["data/train-10.jsonl", "data/train-2.jsonl", "data/dev-0.jsonl"],
        {"train": ["data/train-2.jsonl", "data/train-10.jsonl"], "eval": ["data/dev-0.jsonl"]},
        [],
    ),
    "folders named by their split": (
        ["train/a.jsonl", "train/b.jsonl", "val/a.jsonl"],
        {"train": ["train/a.jsonl", "train/b.jsonl"], "eval": ["val/a.jsonl"]},
        [],
    ),
    "names that say no split": (["one.jsonl", "two.jsonl"], {"train": ["one.jsonl", "two.jsonl"]}, []),
    "a name that says none beside files that do": (
        ["train.jsonl", "more.jsonl"],
        {"train": ["train.jsonl"]},
        ["more.jsonl"],
    ),
    "rows beside a held-out file": (
        ["rows.jsonl", "test.jsonl"],
        {"train": ["rows.jsonl"], "test": ["test.jsonl"]},
        [],
    ),
    "what stands beside rows": (
        ["train.jsonl", "README.md", "LICENSE", "MANIFEST.json", "dataset_infos.json", ".cache/x.jsonl"],
        {"train": ["train.jsonl"]},
        [],
    ),
    "a program that would load the rows": (
        ["train.jsonl", "loader.py"],
        {"train": ["train.jsonl"]},
        ["loader.py"],
    ),
    "what an earlier check wrote here": (
        ["train.jsonl", "dataset_check/dataset_report.json", "dataset_check/data/train.jsonl"],
        {"train": ["train.jsonl"]},
        [],
    ),
}


@pytest.mark.parametrize("sentence", FOLDERS)
def test_files_find_their_split(sentence: str, tmp_path: Path) -> None:
    files, splits, told = FOLDERS[sentence]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(ROW)
    found = find_files(tmp_path)
    assert {split: [one.name for one in sources] for split, sources in found.splits.items()} == splits
    assert [name for name, _ in found.refused] == told


NAMES = {
    "train-00000-of-00001": "train",
    "validation": "eval",
    "my_dev_set": "eval",
    "TEST": "test",
    "trainer": None,
    "rows": None,
    "train/test_part": "test",
}


@pytest.mark.parametrize("name", NAMES)
def test_the_split_of_a_name(name: str) -> None:
    assert split_of(name) == NAMES[name]


NOTHING = {
    "no such dataset": ([], "none", "none does not exist, give a folder with rows"),
    "a folder without rows": (["README.md"], "", "has no file with rows, it holds README.md"),
}


@pytest.mark.parametrize("sentence", NOTHING)
def test_nothing_to_read(sentence: str, tmp_path: Path) -> None:
    files, name, words = NOTHING[sentence]
    for file in files:
        (tmp_path / file).touch()
    with pytest.raises(SpecError, match=words):
        find_files(tmp_path / name)


STATES = {
    "a name that leads elsewhere": (
        {"_data_files": [{"filename": "../secret.arrow"}]},
        "not a file beside it",
    ),
    "a list that is none": ({"_data_files": 3}, "does not list _data_files"),
    "nothing listed": ({}, "does not list _data_files"),
}


@pytest.mark.parametrize("sentence", STATES)
def test_a_saved_dataset_may_name_only_its_own_files(sentence: str, tmp_path: Path) -> None:
    state, words = STATES[sentence]
    (tmp_path / "state.json").write_text(json.dumps(state))
    with pytest.raises(SpecError, match=words):
        find_files(tmp_path)


def test_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "train-0.jsonl").write_bytes(ROW)
    (tmp_path / "train-1.jsonl").symlink_to(tmp_path / "blob")
    found = find_files(tmp_path)
    assert [(name, fault.rule) for name, fault in found.refused] == [("train-1.jsonl", "damaged-file")]
