"""Slices hold the rows they say: every row in one shard, no row in two."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.dataset.row_slice import RowSlice, parse_slice
from kfp_trainer.runtime_operator.workloads.dataset.slices import write_slice

PARTS = {
    "a split": ("split=train", RowSlice(split="train")),
    "a split by another name": ("split=validation", RowSlice(split="eval")),
    "a range": ("rows=10:20", RowSlice(start=10, stop=20)),
    "all but the first rows": ("rows=10:", RowSlice(start=10)),
    "the first rows": ("rows=:20", RowSlice(stop=20)),
    "a shard": ("shard=2/8", RowSlice(shard=2, shards=8)),
    "the shard of this pod": ("shard=auto/8", RowSlice(shard=3, shards=8)),
    "all of it": ("split=train, rows=0:100, shard=1/2", RowSlice("train", 0, 100, 1, 2)),
}
WRONG = {
    "a part that is not known": ("row=3", "'row=3' is not known"),
    "a range of nothing": ("rows=:", "must be rows=A:B"),
    "a range that ends before it begins": ("rows=5:5", "holds no row"),
    "a range in words": ("rows=all", "must be rows=A:B"),
    "a shard that is none": ("shard=8/8", "shards are counted from 0 to 7"),
    "a shard of nothing": ("shard=0/0", "is none"),
    "a split without a name": ("split=", "'split=' is not known"),
    "nothing": (" , ", "asks for nothing"),
    "a word twice": ("rows=0:5,rows=5:9", "says rows twice"),
    "fewer rows than shards": ("rows=0:3,shard=5/8", "its rows are fewer than its shards"),
    "numbers of another script": ("rows=0:\u0665", "must be rows=A:B"),
    "a shard below zero": ("shard=-1/4", "must be shard=I/N"),
    "a shard in words": ("shard=first", "must be shard=I/N"),
}


@pytest.mark.parametrize("sentence", PARTS)
def test_what_a_slice_says(sentence: str) -> None:
    text, wanted = PARTS[sentence]
    assert parse_slice(text, {"JOB_COMPLETION_INDEX": "3"}) == wanted


@pytest.mark.parametrize("sentence", PARTS)
def test_a_slice_is_told_in_the_words_that_mean_it(sentence: str) -> None:
    wanted = PARTS[sentence][1]
    assert parse_slice(str(wanted), {}) == wanted


@pytest.mark.parametrize("sentence", WRONG)
def test_a_slice_that_says_nothing(sentence: str) -> None:
    text, words = WRONG[sentence]
    with pytest.raises(SpecError, match=words):
        parse_slice(text, {})


def test_a_pod_without_an_index_is_told() -> None:
    with pytest.raises(SpecError, match="needs JOB_COMPLETION_INDEX in the environment, got ''"):
        parse_slice("shard=auto/2", {})


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    numbers = iter(range(25))
    for name, rows in (("train-0.jsonl", 10), ("train-1.jsonl", 15)):
        (folder / name).write_text("".join(f'{{"text": "row {next(numbers)}"}}\n' for _ in range(rows)))
    (folder / "test.csv").write_text("text\nheld out\n")
    return folder


def rows_of(folder: Path, split: str = "train") -> list[int]:
    lines = (folder / f"{split}.jsonl").read_text().splitlines()
    return [int(json.loads(line)["text"].split()[1]) for line in lines]


RANGES = {"rows=3:7": list(range(3, 7)), "rows=8:12": list(range(8, 12)), "rows=20:": list(range(20, 25))}


@pytest.mark.parametrize("wanted", RANGES)
def test_ranges_go_over_all_files_of_a_split(wanted: str, dataset: Path, tmp_path: Path) -> None:
    written = write_slice(dataset, tmp_path / "out", parse_slice(f"split=train,{wanted}", {}))
    assert rows_of(tmp_path / "out") == RANGES[wanted]
    assert written == {"train": len(RANGES[wanted])}


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 25])
def test_shards_hold_every_row_once(shards: int, dataset: Path, tmp_path: Path) -> None:
    found = []
    for shard in range(shards):
        write_slice(dataset, tmp_path / f"{shard}", RowSlice("train", shard=shard, shards=shards))
        found.append(rows_of(tmp_path / f"{shard}"))
    assert sorted(row for rows in found for row in rows) == list(range(25))
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_a_slice_of_every_split(dataset: Path, tmp_path: Path) -> None:
    assert write_slice(dataset, tmp_path / "out", RowSlice(stop=2)) == {"train": 2, "test": 1}


EMPTY = {
    "rows behind the end": (RowSlice("train", start=100), "has no row in split=train,rows=100:"),
    "a split that is not there": (RowSlice("eval"), "has no split eval, it has"),
}


@pytest.mark.parametrize("sentence", EMPTY)
def test_a_slice_without_rows_leaves_what_was_there(sentence: str, dataset: Path, tmp_path: Path) -> None:
    wanted, words = EMPTY[sentence]
    write_slice(dataset, tmp_path / "out", RowSlice("train", stop=1))
    with pytest.raises(SpecError, match=words):
        write_slice(dataset, tmp_path / "out", wanted)
    assert rows_of(tmp_path / "out") == [0]


def test_a_row_that_cannot_be_read_is_named(dataset: Path, tmp_path: Path) -> None:
    (dataset / "train-0.jsonl").write_text('{"text": "a"}\n{oops\n')
    with pytest.raises(SpecError, match=r"train-0.jsonl: row 2: is not JSON"):
        write_slice(dataset, tmp_path / "out", RowSlice("train"))
    assert not (tmp_path / "out").exists()
