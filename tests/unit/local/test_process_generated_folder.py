"""Generated files change all at once, and nothing of an older version stays."""

from kfp_trainer.runtime_operator.local.process.generated import File
from kfp_trainer.runtime_operator.local.process.generated_folder import publish


def shown(folder):
    return {path.name for path in folder.iterdir() if not path.name.startswith("..")}


def test_files_are_shown_with_their_content_and_mode(tmp_path):
    publish(tmp_path, [File("a", b"1", 0o644), File("deep/b", b"2", 0o600)])
    assert shown(tmp_path) == {"a", "deep"}
    assert (tmp_path / "deep/b").read_bytes() == b"2"
    assert (tmp_path / "deep/b").stat().st_mode & 0o777 == 0o600


def test_a_reader_of_one_version_finds_both_files_of_it(tmp_path):
    publish(tmp_path, [File("crt", b"1", 0o644), File("key", b"1", 0o644)])
    first = (tmp_path / "..data").resolve()
    publish(tmp_path, [File("crt", b"2", 0o644), File("key", b"2", 0o644)])
    second = (tmp_path / "..data").resolve()
    assert first != second
    assert {(tmp_path / name).resolve().parent for name in ("crt", "key")} == {second}
    assert not first.exists()


def test_a_file_that_is_not_wanted_any_more_is_gone(tmp_path):
    publish(tmp_path, [File("a", b"1", 0o644), File("b", b"1", 0o644)])
    publish(tmp_path, [File("b", b"1", 0o644)])
    assert shown(tmp_path) == {"b"}


def test_nothing_is_written_while_nothing_changes(tmp_path):
    files = [File("a", b"1", 0o644)]
    publish(tmp_path, files)
    before = (tmp_path / "..data").readlink()
    publish(tmp_path, files)
    assert (tmp_path / "..data").readlink() == before
    publish(tmp_path, [File("a", b"1", 0o600)])
    assert (tmp_path / "..data").readlink() != before


def test_a_volume_may_be_empty(tmp_path):
    publish(tmp_path, [])
    assert shown(tmp_path) == set()
