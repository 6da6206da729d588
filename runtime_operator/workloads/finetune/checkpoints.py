"""Checkpoints that are complete or do not count, pruned, and no reason to lose a run when the disk is full.

The Trainer writes a checkpoint file by file. When all processes have written theirs, the first one leaves a
mark that names every file with its size; a folder without that mark, or that differs from it, is as good as
absent: it is never resumed, and cleared away. Only then older ones are pruned, so that one always stands.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import JobFailed
from ..files import write_text

MARK = "complete.json"
PREFIX = "checkpoint-"


def mark_complete(checkpoint: Path) -> None:
    """Say that every file of `checkpoint` is there."""
    sizes = {file.relative_to(checkpoint).as_posix(): file.stat().st_size for file in _files(checkpoint)}
    write_text(checkpoint / MARK, json.dumps(sizes, indent=1, sort_keys=True) + "\n")


def is_complete(checkpoint: Path) -> bool:
    """Whether every file that the mark names is there with its size."""
    try:
        sizes = json.loads((checkpoint / MARK).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(sizes, dict) and all(
        (checkpoint / name).is_file() and (checkpoint / name).stat().st_size == size
        for name, size in sizes.items()
    )


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(checkpoint.name.removeprefix(PREFIX))


def newest_checkpoint(folder: Path) -> Path | None:
    """The last complete checkpoint in `folder`."""
    return max(filter(is_complete, _checkpoints(folder)), key=step_of, default=None)


def prune(folder: Path, *, keep: int) -> None:
    """Leave the newest `keep` complete checkpoints, and nothing that is torn."""
    every = list(_checkpoints(folder))
    kept = sorted(filter(is_complete, every), key=step_of)[-keep:]
    for checkpoint in every:
        if checkpoint not in kept:
            shutil.rmtree(checkpoint, ignore_errors=True)


def is_disk_full(error: BaseException) -> bool:
    """Whether writing failed for want of room, in the words of any of the libraries."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    text = str(error).lower()
    # torch and safetensors wrap what the system said into errors of their own
    return any(words in text for words in ("no space left", "storagefull", "disk quota", "file write failed"))


@contextmanager
def telling_full_disk(output: Path) -> Iterator[None]:
    """A result that has no room ends the run; what was learnt is in its checkpoints."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        if not is_disk_full(error):
            raise
        raise JobFailed(
            f"output: there is no space left for the result in {output}, make room and start it again to go "
            "on from the last checkpoint"
        ) from error


class SafeSaving:
    """A part of a trainer: a checkpoint that has no room is given up, and the run goes on."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        from safetensors import SafetensorError

        trainer: Any = self
        folder = Path(trainer.args.output_dir) / f"{PREFIX}{trainer.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)  # type: ignore[misc]  # of the trainer it is a part of
        except (OSError, RuntimeError, SafetensorError) as error:
            if not is_disk_full(error):
                raise
            shutil.rmtree(folder, ignore_errors=True)


def _checkpoints(folder: Path) -> Iterator[Path]:
    for path in folder.glob(f"{PREFIX}*"):
        if path.is_dir() and path.name.removeprefix(PREFIX).isdigit():
            yield path


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.name != MARK)
