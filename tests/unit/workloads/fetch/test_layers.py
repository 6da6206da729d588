"""What layers hold, merged as a container sees them; and layers that nobody should read."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.workloads.fetch.source import Reader
from kfp_trainer.runtime_operator.workloads.fetch.sources import layers
from kfp_trainer.runtime_operator.workloads.fetch.sources.layers import members, merged
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError
from tests.servers.tars import gz, special, tar, zstd


def _read(reader: Reader | None, step: int = 3) -> bytes:
    assert reader is not None
    got, buffer = bytearray(), memoryview(bytearray(step))
    while count := reader.readinto(buffer):
        got += buffer[:count]
    return bytes(got)


def _written(folder: Path, blobs: Sequence[bytes]) -> list[Path]:
    files = [folder / f"layer-{number}" for number in range(len(blobs))]
    for file, blob in zip(files, blobs, strict=True):
        file.write_bytes(blob)
    return files


MERGED = {
    "one layer": ([{"a": b"1", "d/b": b"2"}], {"a": b"1", "d/b": b"2"}),
    "a name with ./ before it": ([{"./a": b"1", "././d/b": b"2"}], {"a": b"1", "d/b": b"2"}),
    "the later wins": ([{"a": b"1"}, {"a": b"2"}], {"a": b"2"}),
    "a file is deleted": ([{"a": b"1", "b": b"1"}, {".wh.a": b""}], {"b": b"1"}),
    "a folder is deleted": ([{"d/a": b"1", "b": b"1"}, {".wh.d": b""}], {"b": b"1"}),
    "a file in a folder is deleted": ([{"d/a": b"1", "d/b": b"1"}, {"d/.wh.a": b""}], {"d/b": b"1"}),
    "a folder is emptied": (
        [{"d/a": b"1", "e": b"1"}, {"d/.wh..wh..opq": b"", "d/b": b"2"}],
        {"d/b": b"2", "e": b"1"},
    ),
    "everything is emptied": ([{"a": b"1"}, {".wh..wh..opq": b"", "b": b"2"}], {"b": b"2"}),
    "deleted, and there again later": ([{"a": b"1"}, {".wh.a": b""}, {"a": b"3"}], {"a": b"3"}),
    "a mark hides nothing of its own layer": ([{"a": b"1"}, {"a": b"2", ".wh.a": b""}], {"a": b"2"}),
    "a file takes a folder's place": ([{"d/a": b"1"}, {"d": b"2"}], {"d": b"2"}),
    "a folder takes a file's place": ([{"d": b"1"}, {"d/a": b"2"}], {"d/a": b"2"}),
    "a mark for what is not there": ([{"a": b"1"}, {".wh.zz": b""}], {"a": b"1"}),
    "an empty file": ([{"a": b""}], {"a": b""}),
}
PACKED = {"plain": bytes, "gzip": gz, "zstd": zstd}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("sentence", MERGED)
def test_layers_are_merged(tmp_path: Path, sentence: str, packed: str) -> None:
    stack, want = MERGED[sentence]
    files = _written(tmp_path, [PACKED[packed](tar(layer)) for layer in stack])
    found = {member.path: _read(member.reader) for member in merged(files, "oci://x")}
    assert found == want


def test_a_member_may_be_left_unread(tmp_path: Path) -> None:
    (file,) = _written(tmp_path, [gz(tar({"a": bytes(5_000_000), "b": b"2"}))])
    found = {member.path: member for member in members(file, "oci://x")}
    assert list(found) == ["a", "b"]


def test_folders_are_no_members(tmp_path: Path) -> None:
    (file,) = _written(tmp_path, [tar({"d/a": b"1"}, special("d", tarfile.DIRTYPE))])
    assert [member.path for member in members(file, "oci://x")] == ["d/a"]


SPECIAL = {
    "a symlink": (tarfile.SYMTYPE, "symlink"),
    "a hard link": (tarfile.LNKTYPE, "hard link"),
    "a character device": (tarfile.CHRTYPE, "device"),
    "a block device": (tarfile.BLKTYPE, "device"),
    "a named pipe": (tarfile.FIFOTYPE, "named pipe"),
}


@pytest.mark.parametrize("sentence", SPECIAL)
def test_what_is_no_file_is_named_and_not_read(tmp_path: Path, sentence: str) -> None:
    kind, want = SPECIAL[sentence]
    (file,) = _written(tmp_path, [tar({}, special("x", kind, "../../etc/passwd"))])
    (member,) = members(file, "oci://x")
    assert (member.path, member.reader, member.what) == ("x", None, want)


NAMES = ["../x", "/etc/x", "a/../../x", "a//x"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_handed_on_as_it_stands(tmp_path: Path, name: str) -> None:
    (file,) = _written(tmp_path, [tar({name: b"1"})])
    assert [member.path for member in members(file, "oci://x")] == [name]


def _spoilt(blob: bytes) -> bytes:
    middle = len(blob) // 2
    return blob[:middle] + bytes(byte ^ 0x55 for byte in blob[middle : middle + 64]) + blob[middle + 64 :]


def _long_header() -> bytes:
    entry = special("x", tarfile.XHDTYPE)
    entry.size = 1 << 32
    return entry.tobuf(tarfile.PAX_FORMAT)


DAMAGED = {
    "no tar at all": (b"hello" * 200, "is no tar"),
    "nothing": (b"", "is no tar"),
    "gzip of no tar": (gz(b"hello" * 200), "is no tar"),
    "cut in the middle": (tar({"a": bytes(100_000)})[:50_000], "is no tar|unexpected end"),
    "gzip cut in the middle": (gz(tar({"a": bytes(range(256)) * 4000}))[:-900], "is no tar"),
    "zstd cut in the middle": (zstd(tar({"a": bytes(range(256)) * 4000}))[:-100], "is no tar"),
    "zstd with a wrong sum": (zstd(tar({"a": b"1"}))[:-4] + bytes(4), "is no tar"),
    "zstd with wrong bytes in it": (_spoilt(zstd(tar({"a": os.urandom(900_000)}))), "is no tar"),
    "gzip with a wrong sum": (gz(tar({"a": b"1"}))[:-8] + bytes(8), "is no tar"),
    "a header of 4 GB": (_long_header() + bytes(10_000), "a header of 4294967296 bytes"),
}


@pytest.mark.parametrize("sentence", DAMAGED)
def test_a_damaged_layer_is_one_sentence(tmp_path: Path, sentence: str) -> None:
    blob, want = DAMAGED[sentence]
    (file,) = _written(tmp_path, [blob])
    with pytest.raises(FetchError, match=want):
        for member in members(file, "oci://x"):
            _read(member.reader, 1 << 16)


def test_a_layer_in_several_frames_is_read_to_its_end(tmp_path: Path) -> None:
    """Layers that can be read from the middle have many frames, and frames that hold no bytes of the tar."""
    whole = tar({"a": os.urandom(90_000), "b": b"2"})
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    (file,) = _written(tmp_path, [zstd(whole[:50_000]) + skipped + zstd(whole[50_000:]) + skipped])
    assert [member.path for member in members(file, "oci://x") if _read(member.reader, 1 << 16)] == ["a", "b"]


def test_without_the_library_one_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(layers.importlib, "import_module", absent)
    (file,) = _written(tmp_path, [zstd(tar({"a": b"1"}))])
    with pytest.raises(SetupError, match=r"which needs .*zstd; pip install 'kfp-trainer\[fetch\]'"):
        list(members(file, "oci://x"))


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_a_bomb_is_left_early(tmp_path: Path, packed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "FREE_BYTES", 1 << 20)
    (file,) = _written(tmp_path, [PACKED[packed](tar({"zeros": bytes(40 << 20)}))])
    with pytest.raises(FetchError, match="more than 100 times its size"):
        for member in members(file, "oci://x"):
            _read(member.reader, 1 << 16)


def test_text_that_packs_well_is_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "FREE_BYTES", 1 << 20)
    rows = b"".join(
        b'{"prompt": "question %d", "completion": "answer"}\n' % number for number in range(60_000)
    )
    (file,) = _written(tmp_path, [gz(tar({"rows": rows}))])
    assert [_read(member.reader, 1 << 16) for member in members(file, "oci://x")] == [rows]
