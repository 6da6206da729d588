import os

import pytest

from kfp_trainer.runtime_operator.local.folder import JobFolder, all_folders, locked, take_lock, write_json


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "lab" / "bert"
    path.mkdir(parents=True)
    return JobFolder(path)


def test_a_folder_is_called_after_its_job(folder):
    assert (folder.namespace, folder.name, folder.exists) == ("lab", "bert", False)
    folder.write("job", {})
    assert folder.exists


def test_documents_are_replaced_and_leave_nothing_beside_them(folder):
    folder.write("status", {"a": 1})
    folder.write("status", {"b": "ü"})
    assert folder.read("status") == {"b": "ü"}
    assert folder.read("wish") is None
    assert os.listdir(folder.path) == ["status.json"]


def test_a_write_that_fails_keeps_what_was_there(folder, monkeypatch):
    folder.write("status", {"a": 1})
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        folder.write("status", {"b": 2})
    assert folder.read("status") == {"a": 1}
    assert os.listdir(folder.path) == ["status.json"]


def test_events_survive_a_line_that_was_cut_short(folder):
    folder.append_event({"reason": "one"})
    with folder.events.open("ab") as file:
        file.write(b'{"reason": "tw\n{"reason"')
    assert folder.read_events() == [{"reason": "one"}]


def test_a_job_is_run_while_somebody_holds_its_lock(folder):
    lock = take_lock(folder.path / "runner.lock")
    assert lock is not None and folder.is_run()
    assert take_lock(folder.path / "runner.lock") is None
    os.close(lock)
    assert not folder.is_run()


def test_a_removed_job_is_gone(folder, tmp_path):
    folder.write("job", {})
    folder.remove()
    assert not folder.exists and os.listdir(tmp_path / "lab") == []
    folder.remove()


def test_all_jobs_without_what_is_no_job(tmp_path):
    for name in ("lab/b", "lab/a", "home/c", ".claims/lab"):
        (tmp_path / name).mkdir(parents=True)
        write_json(tmp_path / name / "job.json", {})
    (tmp_path / "lab" / "empty").mkdir()
    assert [each.name for each in all_folders(tmp_path)] == ["c", "a", "b"]


def test_a_lock_is_held_for_a_moment(tmp_path):
    with locked(tmp_path / "new" / "lock"):
        assert take_lock(tmp_path / "new" / "lock") is None
    os.close(take_lock(tmp_path / "new" / "lock"))
