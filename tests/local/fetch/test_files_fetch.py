"""file:// and pvc://: what is mounted arrives as it is, and what is no regular file does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from kfp_trainer.runtime_operator.workloads.fetch.sources import file as file_source
from tests.counts import count
from tests.servers.fetching import fetched, tree

FILES = {"a.jsonl": b"{}\n" * 100, "sub/part one/ü.txt": b"u", "empty": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, body in FILES.items():
        (tmp_path / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / path).write_bytes(body)
    return tmp_path / "source"


def test_a_folder(folder: Path, tmp_path: Path) -> None:
    done = fetched(f"file://{folder}", tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == FILES
    assert fetched(f"file://{folder}", tmp_path / "d", kind="dataset").manifest == done.manifest


def test_a_file(folder: Path, tmp_path: Path) -> None:
    fetched(f"file://{folder}/sub/part%20one/%C3%BC.txt", tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == {"ü.txt": b"u"}


def test_a_claim(folder: Path, tmp_path: Path) -> None:
    claims = {"KFP_TRAINER_CLAIMS": str(folder.parent)}
    fetched("pvc://source/sub", tmp_path / "d", claims, kind="dataset")
    assert tree(tmp_path / "d") == {"part one/ü.txt": b"u"}


def test_a_fetched_folder_can_be_fetched_on(folder: Path, tmp_path: Path) -> None:
    first = fetched(f"file://{folder}", tmp_path / "d", kind="dataset")
    second = fetched(f"file://{tmp_path}/d", tmp_path / "e", kind="dataset")
    assert second.manifest.digest == first.manifest.digest
    assert second.manifest.left_out == ("MANIFEST.json",)


def _link(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")


def _folder_link(folder: Path) -> None:
    (folder / "linked").symlink_to("/etc")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def _backslash(folder: Path) -> None:
    (folder / "a\\b").write_bytes(b"")


def _newline(folder: Path) -> None:
    (folder / "a\nb").write_bytes(b"")


def _not_utf8(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")).write_bytes(b"")


def _nothing(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link": (_link, "'link' is a symlink, only regular files are fetched"),
    "a link to a folder": (_folder_link, "'linked' is a symlink"),
    "a pipe": (_pipe, "'pipe' is a pipe"),
    "a backslash in a name": (_backslash, "has a backslash or a control character"),
    "a line end in a name": (_newline, "has a backslash or a control character"),
    "a name that is no text": (_not_utf8, "is not UTF-8"),
    "nothing": (_nothing, "holds no files"),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_is_no_regular_file_is_refused(folder: Path, tmp_path: Path, sentence: str) -> None:
    make, want = BAD[sentence]
    make(folder)
    with pytest.raises(KfpTrainerError, match=want):
        fetched(f"file://{folder}", tmp_path / "d", kind="dataset")
    assert not (tmp_path / "d").exists()


def test_a_link_that_is_not_wanted_does_no_harm(folder: Path, tmp_path: Path) -> None:
    _link(folder)
    fetched(
        f"file://{folder}", tmp_path / "d", kind="dataset", selection=Selection("dataset", ignore=("link",))
    )
    assert tree(tmp_path / "d") == FILES


ADDRESSES = {
    "it does not exist": ("file:///nowhere/at/all", "does not exist, mind the spelling and what is mounted"),
    "it names a host": ("file://host/path", "names the host host, write file:///host/path"),
    "a claim that is not mounted": ("pvc://claim/x", "the claim claim is not mounted at .*/claim, mount it"),
    "a path that leads out of the claim": ("pvc://source/../../etc", "leads out of the claim source"),
    "no claim": ("pvc:///x", "names no claim"),
}


@pytest.mark.parametrize("sentence", ADDRESSES)
def test_an_address_that_leads_nowhere(folder: Path, tmp_path: Path, sentence: str) -> None:
    uri, want = ADDRESSES[sentence]
    with pytest.raises(KfpTrainerError, match=want):
        fetched(uri, tmp_path / "d", {"KFP_TRAINER_CLAIMS": str(folder.parent)}, kind="dataset")


def test_a_file_that_grows_while_it_is_read_is_read_anew(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = file_source.open_local
    grown: list[bool] = []

    def grow(entry: object, start: int, text: str) -> object:
        reader = opened(entry, start, text)  # type: ignore[arg-type]
        if not grown:
            grown.append(True)
            with (folder / "a.jsonl").open("ab") as file:
                file.write(b"more\n")
        return reader

    monkeypatch.setattr(file_source, "open_local", grow)
    fetched(f"file://{folder}/a.jsonl", tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == {"a.jsonl": FILES["a.jsonl"] + b"more\n"}


def test_very_many_small_files(tmp_path: Path) -> None:
    number = count(100_000, sampled=5_000)
    for index in range(number):
        if index % 1000 == 0:
            (tmp_path / f"source/{index // 1000}").mkdir(parents=True)
        (tmp_path / f"source/{index // 1000}/{index}.txt").write_bytes(b"%d" % index)
    done = fetched(f"file://{tmp_path}/source", tmp_path / "d", kind="dataset")
    assert len(done.manifest.files) == number
    assert (tmp_path / f"d/{(number - 1) // 1000}/{number - 1}.txt").read_bytes() == b"%d" % (number - 1)
    assert fetched(f"file://{tmp_path}/source", tmp_path / "d", kind="dataset").fetched == 0
