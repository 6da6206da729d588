"""Jobs of this machine: everything is read from and written to the folder of a job, whoever runs it.

So every command works from every terminal. A job that has not come to its end and has no runner gets a new
one from whoever looks after it; that is how a runner that was killed is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import Fatal, JobFailed, SpecError
from ..local.causes import Death, deaths
from ..local.folder import JobFolder, Json, all_folders
from ..local.process.files import read_json
from ..local.reading import Tails, first_place
from ..local.record import JobRecord, make_job, read_record
from ..local.running import start_runner, wake_runner
from ..local.status import COMPLETE, FAILED, SUSPENDED, find, holds, is_finished
from ..local.submission import Submission, submit
from .digest import LAST_LINES, digest
from .protocol import Document, Event, Job, Line, News, OnLine, Phase, Progress
from .shipped import shipped_runtimes

_PAUSE = 0.1
_SOON = 2.0
"""seconds after which a runner that was just started must have come to something"""


class LocalJobs:
    """The jobs of one namespace on this machine."""

    def __init__(self, jobs: Path, *, namespace: str = "default") -> None:
        self._jobs, self._namespace = jobs, namespace

    def create(self, documents: Document | Sequence[Document]) -> str:
        """Run a TrainJob; an equal one that runs or has succeeded is adopted, one that failed is replaced."""
        submission = self._submit(documents)
        folder = self._folder_of(submission)
        if folder.exists:
            same = read_record(folder).digest == submission.digest
            status = folder.read("status") or {}
            if same and not holds(status, FAILED):
                self._ensure_runner(folder)
                return folder.name
            if not is_finished(status):
                raise SpecError(
                    f"TrainJob {folder.name}: runs already, with another spec; delete it or take another name"
                )
            self.delete(folder.name)
        start_runner(make_job(self._jobs, submission, owner="", now=time.time()))
        return folder.name

    def wait(self, name: str, *, on_line: OnLine | None = None, timeout: float | None = None) -> Job:
        """Wait for a job to end; JobFailed says what died, where and why."""
        end = None if timeout is None else time.monotonic() + timeout
        for news in self.follow(name, until=end):
            if isinstance(news, Line) and on_line:
                on_line(news.text)
        job = self.get(name)
        if job.phase == "Failed":
            raise JobFailed(self.digest(name))
        return job

    def follow(self, name: str, *, everybody: bool = False, until: float | None = None) -> Iterator[News]:
        """What happens to a job until it ends: lines of the first node (or of all), events, progress."""
        folder = self._folder(name)
        tails = Tails(folder, "" if everybody else first_place(read_record(folder).jobset))
        events = 0
        progress: Json | None = None
        while True:
            self._ensure_runner(folder)
            over = folder.is_over()
            for line in tails.more():
                yield Line(line.pod, line.container, line.text)
            known = folder.read_events()
            for each in known[events:]:
                yield _event(each)
            events = len(known)
            reported = (folder.read("status") or {}).get("trainerStatus")
            if reported and reported != progress:
                progress = reported
                yield _progress(reported)
            if over or (until is not None and time.monotonic() > until):
                return
            time.sleep(_PAUSE)

    def get(self, name: str) -> Job:
        """How a job is now."""
        return _job(self._folder(name))

    def list(self) -> Sequence[Job]:
        """All jobs of the namespace."""
        return [_job(each) for each in all_folders(self._jobs) if each.namespace == self._namespace]

    def logs(
        self, name: str, *, pod: str = "", container: str = "", tail: int | None = None
    ) -> Iterator[Line]:
        """What the containers of a job have printed: of its first node, or of a pod."""
        folder = self._folder(name)
        lines = Tails(folder, pod or first_place(read_record(folder).jobset), container).more()
        for line in lines if tail is None else lines[-tail:] if tail else ():
            yield Line(line.pod, line.container, line.text)

    def events(self, name: str) -> Sequence[Event]:
        """What has happened to a job."""
        return [_event(each) for each in self._folder(name).read_events()]

    def cancel(self, name: str) -> None:
        """End a job; its logs and its status stay."""
        folder = self._folder(name)
        if not folder.is_over():
            folder.write("wish", {"cancel": True})
            wake_runner(folder)

    def delete(self, name: str) -> None:
        """End a job and remove all that is left of it."""
        folder = self._folder(name)
        self.cancel(name)
        while not folder.is_over():
            self._ensure_runner(folder)
            time.sleep(_PAUSE)
        folder.remove()

    def digest(self, name: str) -> str:
        """How a job failed: cause, last lines, exit codes, where the time went."""
        folder = self._folder(name)
        condition = find(folder.read("status") or {}, FAILED) or {}
        last = [line.text for line in self.logs(name, tail=LAST_LINES)]
        why = condition.get("message") or "it has not failed"
        return digest(name, why=why, deaths=self._deaths(folder), lines=last, times=())

    def _deaths(self, folder: JobFolder) -> Sequence[Death]:
        pods = sorted((folder.path / "pods").glob("*"))
        return deaths((each.name, read_json(each / "status.json") or {}) for each in pods)

    def _submit(self, documents: Document | Sequence[Document]) -> Submission:
        given = [documents] if isinstance(documents, Mapping) else list(documents)
        return submit([_in_namespace(each, self._namespace) for each in given], shipped=shipped_runtimes())

    def _folder_of(self, submission: Submission) -> JobFolder:
        metadata = submission.train_job["metadata"]
        return JobFolder(self._jobs / metadata["namespace"] / metadata["name"])

    def _folder(self, name: str) -> JobFolder:
        folder = JobFolder(self._jobs / self._namespace / name)
        if not folder.exists:
            raise SpecError(
                f"TrainJob {name}: not found in namespace {self._namespace}; `get` lists those there are"
            )
        return folder

    def _ensure_runner(self, folder: JobFolder) -> None:
        """Start a runner for a job that has none and needs one."""
        if folder.is_over() or folder.is_run():
            return
        trouble = folder.runner_log.read_text(errors="replace").strip() if folder.runner_log.exists() else ""
        if trouble:
            raise Fatal(f"the runner of {folder.name} broke down: {trouble.splitlines()[-1]}")
        start_runner(folder)
        end = time.monotonic() + _SOON
        while not folder.is_run() and not folder.is_over() and time.monotonic() < end:
            time.sleep(0.01)


def _in_namespace(document: Document, namespace: str) -> Document:
    metadata = document.get("metadata") or {}
    if "namespace" in metadata or document.get("kind", "").startswith("Cluster"):
        return document
    return {**document, "metadata": {**metadata, "namespace": namespace}}


def _job(folder: JobFolder) -> Job:
    record, status = read_record(folder), folder.read("status") or {}
    phase = _phase(record, status)
    condition = find(status, phase) or {}
    return Job(
        folder.name,
        folder.namespace,
        phase,
        {**record.train_job, "status": status},
        condition.get("reason", ""),
        condition.get("message", ""),
        record.warnings,
    )


def _phase(record: JobRecord, status: Mapping[str, Any]) -> Phase:
    if holds(status, FAILED):
        return "Failed"
    if holds(status, COMPLETE):
        return "Complete"
    if holds(status, SUSPENDED):
        return "Suspended"
    return "Running" if "startTime" in status else "Pending"


def _event(event: Json) -> Event:
    return Event(
        event["time"], event["object"], event["reason"], event["message"], event["type"] == "Warning"
    )


def _progress(reported: Json) -> Progress:
    metrics = {each["name"]: each["value"] for each in reported.get("metrics") or ()}
    return Progress(reported.get("progressPercentage"), reported.get("estimatedRemainingSeconds"), metrics)
