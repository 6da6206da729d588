"""A checkpoint counts when it is complete; one always stands."""

import errno
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.finetune.checkpoints import (
    MARK,
    SafeSaving,
    is_complete,
    is_disk_full,
    mark_complete,
    newest_checkpoint,
    prune,
)


def checkpoint(folder: Path, step: int, *, complete: bool = True) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    (path / "model.safetensors").write_bytes(b"weights")
    (path / "trainer_state.json").write_text("{}")
    if complete:
        mark_complete(path)
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_newest_is_by_number_not_by_name(tmp_path: Path) -> None:
    for step in (5, 40, 100):
        checkpoint(tmp_path, step)
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint-100"


TORN = {
    "no mark": lambda path: (path / MARK).unlink(),
    "a mark that is no JSON": lambda path: (path / MARK).write_text("{"),
    "a file is missing": lambda path: (path / "trainer_state.json").unlink(),
    "a file is shorter": lambda path: (path / "model.safetensors").write_bytes(b"wei"),
}


@pytest.mark.parametrize("sentence", TORN)
def test_a_torn_checkpoint_does_not_count(sentence: str, tmp_path: Path) -> None:
    whole, torn = checkpoint(tmp_path, 5), checkpoint(tmp_path, 10)
    TORN[sentence](torn)
    assert not is_complete(torn)
    assert newest_checkpoint(tmp_path) == whole


def test_no_folder_no_checkpoint(tmp_path: Path) -> None:
    assert newest_checkpoint(tmp_path / "none") is None


def test_pruning_leaves_the_newest_complete_ones(tmp_path: Path) -> None:
    for step in (5, 10, 15):
        checkpoint(tmp_path, step)
    checkpoint(tmp_path, 20, complete=False)
    prune(tmp_path, keep=2)
    assert names(tmp_path) == {"checkpoint-10", "checkpoint-15"}


FULL = {
    "the system's word": (OSError(errno.ENOSPC, "No space left on device"), True),
    "over the quota": (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
    "torch's word for it": (RuntimeError("PytorchStreamWriter failed writing file: file write failed"), True),
    "safetensors' word for it": (
        ValueError('IoError(Os { code: 28, kind: StorageFull, message: "x" })'),
        True,
    ),
    "another trouble": (OSError(errno.EACCES, "Permission denied"), False),
    "another error of torch": (RuntimeError("shapes differ"), False),
}


@pytest.mark.parametrize("sentence", FULL)
def test_disk_full(sentence: str) -> None:
    error, full = FULL[sentence]
    assert is_disk_full(error) is full


class Trainer:
    """As much of one as saving needs."""

    def __init__(self, folder: Path, error: Exception) -> None:
        self.args = type("Args", (), {"output_dir": str(folder)})
        self.state = type("State", (), {"global_step": 10})
        self.error = error

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = Path(self.args.output_dir) / "checkpoint-10"
        folder.mkdir()
        (folder / "half").touch()
        raise self.error


class Safe(SafeSaving, Trainer):
    """One that gives up a checkpoint that has no room."""


def test_a_full_disk_costs_the_checkpoint_not_the_run(tmp_path: Path) -> None:
    older = checkpoint(tmp_path, 5)
    Safe(tmp_path, OSError(errno.ENOSPC, "No space left on device"))._save_checkpoint(None, None)
    assert newest_checkpoint(tmp_path) == older
    assert names(tmp_path) == {"checkpoint-5"}


def test_any_other_trouble_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Permission"):
        Safe(tmp_path, OSError(errno.EACCES, "Permission denied"))._save_checkpoint(None, None)
