"""The folder of one job: everything that is known of it, so that any command and any later runner can go on.

    job.json       what was asked for: TrainJob, objects, JobSet, addresses and ports; written once
    state.json     the JobSet, its Jobs and pods, as the rules left them; written before anything is done
    status.json    the TrainJob's status, with the progress its trainer reports
    events.jsonl   what happened, a line an event
    wish.json      what a person wants of the runner: the job cancelled, suspended, resumed
    runner.lock    held by the one runner there is
    runner.json    who the runner is
    over.json      there when nothing is left to do
    reserve        room that is given back when the disk is full
    pods/NAME/     one pod: its containers' logs and what runs

A file is replaced, never changed, so that a reader sees the old or the new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_RESERVE = 256 * 1024


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The folder of one job."""

    path: Path

    @property
    def name(self) -> str:
        """The job's name."""
        return self.path.name

    @property
    def namespace(self) -> str:
        """The job's namespace."""
        return self.path.parent.name

    @property
    def exists(self) -> bool:
        """Whether there is such a job."""
        return (self.path / "job.json").exists()

    @property
    def events(self) -> Path:
        """Where the events are."""
        return self.path / "events.jsonl"

    @property
    def runner_log(self) -> Path:
        """What the runner itself has to say; empty unless something is wrong with it."""
        return self.path / "runner.log"

    def pod(self, name: str) -> Path:
        """The folder of a pod."""
        return self.path / "pods" / name

    def read(self, name: str) -> Json | None:
        """Read one of the documents; None if it is not there."""
        try:
            document: Json = json.loads((self.path / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return None
        return document

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Replace one of the documents."""
        write_json(self.path / f"{name}.json", document)

    def make_reserve(self) -> None:
        """Take up some room, to be given back when the end of the job must be told on a full disk."""
        (self.path / "reserve").write_bytes(bytes(_RESERVE))

    def drop_reserve(self) -> None:
        """Give the room back."""
        with suppress(OSError):
            (self.path / "reserve").unlink()

    def append_event(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        with self.events.open("ab") as file:
            file.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")

    def read_events(self) -> list[Json]:
        """All events so far; a line that a full disk cut short is left out."""
        found = []
        with suppress(FileNotFoundError):
            for line in self.events.read_bytes().split(b"\n")[:-1]:
                with suppress(ValueError):
                    found.append(json.loads(line))
        return found

    def is_over(self) -> bool:
        """Whether nothing of the job runs any more, and nothing will unless somebody asks for it."""
        return (self.path / "over.json").exists()

    def reopen(self) -> None:
        """There is something to do again."""
        (self.path / "over.json").unlink(missing_ok=True)

    def is_run(self) -> bool:
        """Whether a runner is at work on the job."""
        if not self.path.exists():
            return False
        lock = take_lock(self.path / "runner.lock")
        if lock is not None:
            os.close(lock)
        return lock is None

    def remove(self) -> None:
        """Delete the folder; the job is gone in one step, its files a little later."""
        gone = self.path.with_name(f".{self.name}.{os.getpid()}.gone")
        with suppress(FileNotFoundError):
            self.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a file by a document."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        fresh.write_bytes(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise


def take_lock(path: Path) -> int | None:
    """Take a lock that ends with this process; None when somebody else holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for a moment, after whoever holds it now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def all_folders(jobs: Path) -> list[JobFolder]:
    """The folders of all jobs, by namespace and name."""
    return [JobFolder(each.parent) for each in sorted(jobs.glob("[!.]*/[!.]*/job.json"))]
