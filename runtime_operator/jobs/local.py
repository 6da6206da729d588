"""Jobs of this machine: everything is read from and written to the folder of a job, whoever runs it.

So every command works from every terminal. A job that has not come to its end and has no runner gets a new
one from whoever looks after it; that is how a runner that was killed is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.legacy import terms
from ..api.names import FAILED, SUSPENDED
from ..errors import Fatal, JobFailed, Retryable, SetupError, SpecError
from ..local.causes import deaths
from ..local.folder import JobFolder, Json
from ..local.gpus import machine_gpus
from ..local.process.failures import folder_failure
from ..local.reading import LogLine, Tails, first_place, role_places
from ..local.record import make_job, read_record, read_records
from ..local.running import start_runner, wake_runner
from ..local.status import expires, find, holds, is_finished
from .description import Description
from .digest import LAST_LINES, digest
from .local_views import (
    description_view,
    event_view,
    job_view,
    pod_statuses,
    times_view,
)
from .protocol import SPEAKER, Document, Event, Job, Line, News, OnLine, Whose
from .shipped import shipped_runtimes
from .views import progress_view
from .waiting import wait

if TYPE_CHECKING:
    from ..local.submission import Submission

_PAUSE = 0.1


class LocalJobs:
    """The jobs of one namespace on this machine."""

    def __init__(self, jobs: Path, *, namespace: str = "default") -> None:
        self._jobs, self.namespace = jobs, namespace

    def create(self, documents: Document | Sequence[Document], *, allow_fewer: bool = False) -> str:
        """Run a TrainJob; an equal one that runs or has succeeded is adopted, one that failed is replaced."""
        submission = self._submit(documents, allow_fewer=allow_fewer)
        folder = self._folder_of(submission)
        if folder.exists:
            record, status = read_record(folder), folder.read("status") or {}
            if record.digest != submission.digest and not is_finished(status):
                raise SpecError(
                    f"TrainJob {folder.name}: runs already, with another spec; delete it or take another name"
                )
            if record.digest == submission.digest and not holds(status, FAILED):
                return self._adopt(folder, submission)
            self.delete(folder.name)
        return self._start(submission, owner="", attempt=0)

    def adopt_or_create(
        self, documents: Document | Sequence[Document], *, owner: str = "", retries: int = 0
    ) -> str:
        """As `create`, for an owner that may ask again: a failed job is replaced `retries` times."""
        submission = self._submit(documents)
        folder = self._folder_of(submission)
        if not folder.exists:
            return self._start(submission, owner=owner, attempt=0)
        record = read_record(folder)
        if record.owner != owner:
            whose = f"belongs to {record.owner}" if record.owner else "belongs to nobody"
            raise SpecError(f"TrainJob {folder.name}: {whose}, not to {owner or 'nobody'}; take another name")
        if record.digest != submission.digest:
            self.delete(folder.name)
            return self._start(submission, owner=owner, attempt=0)
        if holds(folder.read("status") or {}, FAILED) and record.attempt < retries:
            self.delete(folder.name)
            return self._start(submission, owner=owner, attempt=record.attempt + 1)
        return self._adopt(folder, submission)

    def wait(self, name: str, *, on_line: OnLine | None = None, timeout: float | None = None) -> Job:
        """Wait for a job to end; JobFailed says what died, where and why."""
        return wait(self, name, on_line=on_line, timeout=timeout)

    def follow(
        self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None, until: float | None = None
    ) -> Iterator[News]:
        """What happens to a job until it ends: its lines, from the last few on, events, progress."""
        folder = self._folder(name)
        tails = Tails(folder, _places(folder, whose), whose.container)
        yield from _views(tails.more(), tail)
        events = 0
        progress: Json | None = None
        while True:
            self._ensure_runner(folder)
            over = folder.is_over()
            yield from _views(tails.more())
            known = folder.read_events()
            for each in known[events:]:
                yield event_view(each)
            events = len(known)
            reported = (folder.read("status") or {}).get("trainerStatus")
            if reported and reported != progress:
                progress = reported
                yield progress_view(reported)
            if over or (until is not None and time.monotonic() > until):
                return
            time.sleep(_PAUSE)

    def get(self, name: str) -> Job:
        """How a job is now."""
        return job_view(self._folder(name))

    def list(self) -> Sequence[Job]:
        """All jobs of the namespace."""
        self._clear()
        found = read_records(self._jobs)
        return [job_view(folder) for folder, _ in found if folder.namespace == self.namespace]

    def logs(self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None) -> Iterator[Line]:
        """What the containers of a job have printed."""
        folder = self._folder(name)
        yield from _views(Tails(folder, _places(folder, whose), whose.container).more(), tail)

    def events(self, name: str) -> Sequence[Event]:
        """What has happened to a job."""
        return [event_view(each) for each in self._folder(name).read_events()]

    def cancel(self, name: str) -> None:
        """End a job; its logs and its status stay."""
        folder = self._folder(name)
        if not folder.is_over():
            folder.write("wish", {**(folder.read("wish") or {}), "cancel": True})
            wake_runner(folder)

    def delete(self, name: str, *, timeout: float | None = None) -> None:
        """End a job and remove all that is left of it."""
        folder = self._folder(name)
        end = None if timeout is None else time.monotonic() + timeout
        self.cancel(name)
        while not folder.is_over():
            self._ensure_runner(folder)
            if end is not None and time.monotonic() > end:
                raise Retryable(f"TrainJob {name}: its pods have not ended within {timeout:.0f} s", after=5)
            time.sleep(_PAUSE)
        folder.remove()

    def describe(self, name: str) -> Description:
        """Everything around a job, and why it is where it is."""
        return description_view(self._folder(name))

    def digest(self, name: str) -> str:
        """How a job failed: cause, last lines, exit codes, where the time went."""
        folder = self._folder(name)
        return digest(
            name,
            why=(find(folder.read("status") or {}, FAILED) or {}).get("message") or "it has not failed",
            deaths=deaths(pod_statuses(folder)),
            lines=[line.text for line in self.logs(name, tail=LAST_LINES)],
            times=times_view(folder, read_record(folder)),
        )

    def exit_code(self, name: str) -> int:
        """The exit code of a job that has ended: of what died first."""
        folder = self._folder(name)
        if not holds(folder.read("status") or {}, FAILED):
            return 0
        found = deaths(pod_statuses(folder))
        return found[0].exit_code if found else JobFailed.exit_code

    def _adopt(self, folder: JobFolder, submission: Submission) -> str:
        """Take a job as it is, but for its rest: that is asked for anew each time."""
        wish, suspend = folder.read("wish") or {}, bool(terms(submission.train_job).get("suspend"))
        status = folder.read("status") or {}
        if not is_finished(status) and suspend != wish.get("suspend", holds(status, SUSPENDED)):
            folder.write("wish", {**wish, "suspend": suspend})
            folder.reopen()
            wake_runner(folder)
        self._ensure_runner(folder)
        return folder.name

    def _start(self, submission: Submission, *, owner: str, attempt: int) -> str:
        try:
            folder = make_job(self._jobs, submission, owner=owner, attempt=attempt, now=time.time())
            start_runner(folder)
        except OSError as error:
            where = str(error.filename or self._jobs)
            raise SetupError(folder_failure("the folder of jobs", where, error.errno or 0)) from error
        return folder.name

    def _submit(self, documents: Document | Sequence[Document], *, allow_fewer: bool = False) -> Submission:
        from ..local.fitting import fit  # brings the whole API; who only looks at jobs does not wait for it

        given = [documents] if isinstance(documents, Mapping) else list(documents)
        placed = [_in_namespace(each, self.namespace) for each in given]
        return fit(placed, shipped=shipped_runtimes(), gpus=len(machine_gpus()), allow_fewer=allow_fewer)

    def _folder_of(self, submission: Submission) -> JobFolder:
        metadata = submission.train_job["metadata"]
        return JobFolder(self._jobs / metadata["namespace"] / metadata["name"])

    def _folder(self, name: str) -> JobFolder:
        self._clear()
        folder = JobFolder(self._jobs / self.namespace / name)
        if not folder.exists:
            raise SpecError(
                f"job {name}: not found in namespace {self.namespace}; `get` lists those there are"
            )
        return folder

    def _clear(self) -> None:
        """Remove the jobs whose time to live after their end is over."""
        for folder, record in read_records(self._jobs):
            due = expires(record.train_job, folder.read("status") or {})
            if due is not None and due <= time.time() and folder.is_over():
                folder.remove()

    def _ensure_runner(self, folder: JobFolder) -> None:
        """Start a runner for a job that has none and needs one."""
        if folder.is_over() or folder.is_run():
            return
        trouble = folder.runner_log.read_text(errors="replace").strip() if folder.runner_log.exists() else ""
        if trouble:
            raise Fatal(f"the runner of {folder.name} broke down: {trouble.splitlines()[-1]}")
        start_runner(folder)


def _places(folder: JobFolder, whose: Whose) -> Sequence[str]:
    """Whose lines are wanted; of none by name: of all pods."""
    if whose.pod or whose.everybody:
        return [whose.pod] if whose.pod else []
    jobset = read_record(folder).jobset
    return role_places(jobset, whose.role) if whose.role else [first_place(jobset)]


def _views(lines: Sequence[LogLine], tail: int | None = None) -> Iterator[Line]:
    """The lines, or the last few of them."""
    for line in lines if tail is None else lines[-tail:] if tail else ():
        yield Line(line.pod, line.container, line.text)


def _in_namespace(document: Document, namespace: str) -> Document:
    metadata = document.get("metadata") or {}
    if "namespace" in metadata or document.get("kind", "").startswith("Cluster"):
        return document
    return {**document, "metadata": {**metadata, "namespace": namespace}}
