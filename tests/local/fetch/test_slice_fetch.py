"""A part of a dataset, cut when it arrives: less is fetched, the right rows are kept, nonsense is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError, SpecError
from kfp_trainer.runtime_operator.workloads.dataset.row_slice import parse_slice
from kfp_trainer.runtime_operator.workloads.fetch import engine
from kfp_trainer.runtime_operator.workloads.fetch.order import Fetched
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from tests.servers.fetching import fetched, tree
from tests.servers.site import Site

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
CLEAN = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def lines(first: int, stop: int) -> bytes:
    return b"".join(b'{"text": "row %d"}\n' % number for number in range(first, stop))


FILES = {
    "data/train-00000-of-00002.jsonl": lines(0, 12),
    "data/train-00001-of-00002.jsonl": lines(12, 25),
    "data/validation.jsonl": lines(100, 104),
    "README.md": b"# rows",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(FILES) as site:
        yield site


def cut(site: Site, target: Path, words: str, **environ: str) -> Fetched:
    selection = Selection("dataset", rows=parse_slice(words, environ))
    return fetched(site.url, target, kind="dataset", selection=selection)


def numbers(folder: Path, split: str = "train") -> list[int]:
    rows = (folder / f"{split}.jsonl").read_text().splitlines()
    return [int(json.loads(row)["text"].split()[1]) for row in rows]


SLICES: dict[str, tuple[str, dict[str, list[int]]]] = {
    "a split": ("split=train", {"train": list(range(25))}),
    "a split by another name": ("split=dev", {"eval": list(range(100, 104))}),
    "a range over two files": ("split=train,rows=10:14", {"train": [10, 11, 12, 13]}),
    "a range of every split": ("rows=:2", {"train": [0, 1], "eval": [100, 101]}),
    "a shard": ("split=train,shard=3/8", {"train": [3, 11, 19]}),
    "a shard of a range": ("split=train,rows=4:10,shard=1/2", {"train": [5, 7, 9]}),
}


@pytest.mark.parametrize("sentence", SLICES)
def test_the_rows_that_are_asked_for_are_kept(site: Site, tmp_path: Path, sentence: str) -> None:
    words, want = SLICES[sentence]
    done = cut(site, tmp_path / "d", words)
    assert {
        path.stem: numbers(tmp_path / "d", path.stem) for path in (tmp_path / "d").glob("*.jsonl")
    } == want
    assert set(tree(tmp_path / "d")) == {f"{split}.jsonl" for split in want}
    assert done.manifest.selection["slice"] == str(parse_slice(words, {}))
    assert [file.path for file in done.manifest.files] == sorted(f"{split}.jsonl" for split in want)
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_what_names_another_split_is_not_fetched(site: Site, tmp_path: Path) -> None:
    cut(site, tmp_path / "d", "split=validation")
    assert not site.web.asked_for("/data/train", method="GET")


def test_the_shards_of_a_job_hold_every_row_once(site: Site, tmp_path: Path) -> None:
    found = []
    for index in range(4):
        cut(site, tmp_path / f"{index}", "split=train,shard=auto/4", JOB_COMPLETION_INDEX=str(index))
        found += numbers(tmp_path / f"{index}")
    assert sorted(found) == list(range(25))


def test_a_second_fetch_moves_nothing_and_another_slice_does(site: Site, tmp_path: Path) -> None:
    first = cut(site, tmp_path / "d", "split=train,rows=0:5")
    again = cut(site, tmp_path / "d", "split=train,rows=0:5")
    assert (again.fetched, again.manifest.digest) == (0, first.manifest.digest)
    assert cut(site, tmp_path / "d", "split=train,rows=5:9").fetched > 0
    assert numbers(tmp_path / "d") == [5, 6, 7, 8]
    fetched(site.url, tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == FILES


def test_a_damaged_slice_is_made_anew(site: Site, tmp_path: Path) -> None:
    first = cut(site, tmp_path / "d", "split=train,rows=0:5")
    (tmp_path / "d/train.jsonl").write_text("oops")
    assert cut(site, tmp_path / "d", "split=train,rows=0:5").manifest.digest == first.manifest.digest
    assert numbers(tmp_path / "d") == [0, 1, 2, 3, 4]


def test_pods_do_not_take_turns_in_one_folder(site: Site, tmp_path: Path) -> None:
    cut(site, tmp_path / "d", "split=train,shard=0/2")
    with pytest.raises(SpecError, match="holds shard 0/2 of the same rows, give shard 1 a folder of its own"):
        cut(site, tmp_path / "d", "split=train,shard=1/2")
    assert numbers(tmp_path / "d") == list(range(0, 25, 2))


NONSENSE = {
    "a split that no file names": ("split=test", "has no split test, its files name eval, train"),
    "rows behind the end": ("split=train,rows=100:", "has no row in split=train,rows=100:"),
    "a shard behind the end": ("split=train,shard=30/40", "has no row in split=train,shard=30/40"),
}


@pytest.mark.parametrize("sentence", NONSENSE)
def test_a_slice_that_holds_nothing_is_one_sentence(site: Site, tmp_path: Path, sentence: str) -> None:
    words, want = NONSENSE[sentence]
    with pytest.raises(KfpTrainerError, match=want) as caught:
        cut(site, tmp_path / "d", words)
    assert str(tmp_path) not in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "d").exists()


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    rows = b'{"text": "a"}\n{oops\n'
    with (
        Site({"train.jsonl": rows}) as site,
        pytest.raises(SpecError, match=r"^train.jsonl: row 2: is not JSON"),
    ):
        cut(site, tmp_path / "d", "rows=0:5")
    assert not (tmp_path / "d").exists()


def test_what_is_no_dataset_has_no_rows(tmp_path: Path) -> None:
    with (
        Site({"picture.png": b"x"}) as site,
        pytest.raises(SpecError, match=r"^dataset: http://127.0.0.1:[0-9]+/ has no file with rows"),
    ):
        cut(site, tmp_path / "d", "rows=0:5")


def test_cut_off_while_it_is_put_in_its_place_it_is_finished(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old folder is away, the new rows are not there yet, and the process dies."""
    cut(site, tmp_path / "d", "split=train,rows=0:5")
    rename = os.rename

    def die_at_the_second(old: Path, new: Path) -> None:
        if Path(new) == tmp_path / "d":
            raise KeyboardInterrupt
        rename(old, new)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "rename", die_at_the_second)
        cut(site, tmp_path / "d", "split=train,rows=5:9")
    assert not (tmp_path / "d").exists()
    assert cut(site, tmp_path / "d", "split=train,rows=5:9").fetched == 0
    assert numbers(tmp_path / "d") == [5, 6, 7, 8]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_slice_that_was_never_put_in_its_place_is_forgotten(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(engine.Place, "publish", die)
        cut(site, tmp_path / "d", "split=train,rows=5:9")
    fetched(site.url, tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == FILES


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", MODULE, *arguments],
        env={**CLEAN, **environ},
        capture_output=True,
        text=True,
        timeout=300,
    )


WAYS: dict[str, tuple[list[str], dict[str, str], list[int]]] = {
    "by the environment": ([], {"SLICE": "split=train,rows=:3"}, [0, 1, 2]),
    "by a flag, which comes first": (["--slice", "split=train,rows=3:5"], {"SLICE": "rows=:1"}, [3, 4]),
    "by the index of the pod": (
        [],
        {"SLICE": "split=train,shard=auto/9", "JOB_COMPLETION_INDEX": "7"},
        [7, 16],
    ),
}


@pytest.mark.parametrize("sentence", WAYS)
def test_the_command_takes_a_slice(site: Site, tmp_path: Path, sentence: str) -> None:
    flags, environ, want = WAYS[sentence]
    done = run("dataset", site.url, str(tmp_path / "d"), *flags, **environ)
    assert done.returncode == 0, done.stderr
    assert numbers(tmp_path / "d") == want


MISTAKES: dict[str, tuple[str, dict[str, str], str]] = {
    "words that are none": ("dataset", {"SLICE": "first ten"}, "slice: 'first ten' is not known"),
    "a pod without an index": ("dataset", {"SLICE": "shard=auto/2"}, "needs JOB_COMPLETION_INDEX"),
    "an index beyond the shards": (
        "dataset",
        {"SLICE": "shard=auto/2", "JOB_COMPLETION_INDEX": "2"},
        "shards are counted from 0 to 1",
    ),
    "a model": ("model", {"SLICE": "rows=:3"}, "SLICE: a model has no rows"),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_nonsense_is_refused_before_anything_is_asked(site: Site, tmp_path: Path, sentence: str) -> None:
    kind, environ, want = MISTAKES[sentence]
    done = run(kind, site.url, str(tmp_path / "d"), **environ)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert want in done.stderr
    assert not site.web.asked
