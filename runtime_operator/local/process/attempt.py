"""One run of a container on disk: all that a runner needs to take over a container that it did not start.

lock             held by the container's launcher for as long as anything of the container lives
record           who the launcher is, how the container started and ended
log              what the container printed
launcher.log     what went wrong in the launcher itself; empty
termination-log  what the container left as its last words
wait             how long a restart after this one waits
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .launcher.record import identity

KEPT = 2
"""attempts kept of each container: the last, and the one before for `logs --previous`"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The folder of one run."""

    folder: Path

    @property
    def number(self) -> int:
        """Return how many runs there were before."""
        return int(self.folder.name)

    @property
    def lock(self) -> Path:
        """Return the path of the lock."""
        return self.folder / "lock"

    @property
    def log(self) -> Path:
        """Return the path of the log."""
        return self.folder / "log"

    @property
    def termination_log(self) -> Path:
        """Return the path of the last words."""
        return self.folder / "termination-log"

    def make(self, *, wait: float | None) -> None:
        """Make the folder as it is before a start, and drop what is older than the one before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "root").mkdir(parents=True)
        self.termination_log.touch(mode=0o666)
        (self.folder / "wait").write_text(json.dumps(wait))
        for old in attempts(self.folder.parent)[:-KEPT]:
            shutil.rmtree(old.folder, ignore_errors=True)

    def wait(self) -> float | None:
        """Return the wait that was remembered at the start of this run."""
        try:
            return float(json.loads((self.folder / "wait").read_text()))
        except (FileNotFoundError, TypeError, ValueError):
            return None

    def take_lock(self) -> int | None:
        """Take the lock; None when something of the container lives."""
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def is_alive(self) -> bool:
        """Tell whether something of the container lives."""
        if not self.folder.exists():
            return False
        descriptor = self.take_lock()
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is None

    def record(self) -> dict[str, Any]:
        """Return what the launcher wrote; empty when it did not come so far."""
        for _ in range(5):
            try:
                text = (self.folder / "record").read_text(encoding="ascii").strip()
                return dict(json.loads(text)) if text else {}
            except FileNotFoundError:
                return {}
            except json.JSONDecodeError:  # read in the middle of a write
                time.sleep(0.001)
        return {}

    def write_record(self, **fields: Any) -> None:
        """Record a start that failed before there was a launcher."""
        (self.folder / "record").write_text(json.dumps(fields), encoding="ascii")


def attempts(folder: Path) -> list[Attempt]:
    """List the runs of a container that are on disk, the oldest first."""
    try:
        names = [name for name in os.listdir(folder) if name.isdecimal()]
    except FileNotFoundError:
        return []
    return [Attempt(folder / name) for name in sorted(names, key=int)]


def is_same_process(record: dict[str, Any]) -> bool:
    """Tell whether the process number in a record still means the process that wrote it."""
    return "pid" in record and identity(record["pid"]) == (record["start"], record["boot"])
