"""Files and folders are complete or absent."""

import pytest

from kfp_trainer.runtime_operator.workloads.files import digest, new_folder, write_text


def test_a_folder_takes_the_old_ones_place(tmp_path) -> None:
    target = tmp_path / "out"
    for name in ("first", "second"):
        with new_folder(target) as part:
            (part / name).touch()
    assert [entry.name for entry in target.iterdir()] == ["second"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_fails_leaves_the_old_one(tmp_path) -> None:
    target = tmp_path / "out"
    with new_folder(target) as part:
        (part / "first").touch()
    with pytest.raises(RuntimeError), new_folder(target) as part:
        (part / "second").touch()
        raise RuntimeError
    assert [entry.name for entry in target.iterdir()] == ["first"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_text_replaces_text(tmp_path) -> None:
    file = tmp_path / "deep" / "file"
    write_text(file, "one")
    write_text(file, "two")
    assert file.read_text() == "two"
    assert [entry.name for entry in file.parent.iterdir()] == ["file"]


def test_a_digest_follows_names_and_contents(tmp_path) -> None:
    seen = set()
    for name, text in [("a", "1"), ("a", "2"), ("b", "2")]:
        folder = tmp_path / f"{name}{text}"
        write_text(folder / name, text)
        seen.add(digest(folder))
    assert len(seen) == 3
    assert digest(tmp_path / "a1") == digest(tmp_path / "a1")
