"""What is written down of a job when it is made, and never changed afterwards.

Addresses, ports and the place where progress is posted are part of it: they stay the same when another
runner takes the job up, since programs that run have them in their environment.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SetupError
from .folder import JobFolder, Json, all_folders, locked
from .names import addresses, all_names, service_names
from .ports import choose_ports, free_port, named_ports
from .semantics import create, to_json
from .ssh import ssh_ports
from .status import is_finished, rfc3339
from .templates import pod_templates

if TYPE_CHECKING:
    from .submission import Submission

VERSION = 1
"""of the contents of job.json; changed with them"""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The contents of job.json."""

    train_job: Json
    jobset: Json
    objects: tuple[Json, ...]
    digest: str
    owner: str
    """who asked for the job: a pipeline's task, or empty"""
    attempt: int
    """how many jobs of this name its owner has had before, that failed"""
    created: float
    addresses: Mapping[str, str]
    """by short host name"""
    ports: Mapping[int, int]
    progress_port: int
    token: str
    warnings: tuple[str, ...] = ()
    decisions: tuple[tuple[str, str, str], ...] = ()
    """field, value, reason: what render decided"""

    @property
    def hosts(self) -> dict[str, str]:
        """The address by every name under which a pod of the job is found."""
        return hosts_of(self.jobset, self.addresses, self.objects)

    def document(self) -> Json:
        """The form kept on disk."""
        return {"version": VERSION, **asdict(self)}

    @staticmethod
    def of(document: Mapping[str, Any]) -> JobRecord:
        """Read the form kept on disk."""
        return JobRecord(
            **{
                **{name: value for name, value in document.items() if name != "version"},
                "ports": {int(port): mine for port, mine in document["ports"].items()},
                "objects": tuple(document["objects"]),
                "warnings": tuple(document["warnings"]),
                "decisions": tuple((field, value, why) for field, value, why in document["decisions"]),
            }
        )


def hosts_of(jobset: Json, short: Mapping[str, str], objects: Iterable[Json]) -> dict[str, str]:
    """The address by every name that pods and their Services have."""
    services = (each for each in objects if each["kind"] == "Service")
    return {**service_names(services, jobset, short), **all_names(jobset, short)}


def read_record(folder: JobFolder) -> JobRecord:
    """Read what was written down of a job that exists."""
    document = folder.read("job") or {}
    if document.get("version") != VERSION:
        raise SetupError(f"{folder.path}: was not made by this version of kfp-trainer; remove the folder")
    return JobRecord.of(document)


def read_records(jobs: Path) -> Iterator[tuple[JobFolder, JobRecord]]:
    """All jobs that can be read, with what was written down of them; some may go meanwhile."""
    for folder in all_folders(jobs):
        document = folder.read("job") or {}
        if document.get("version") == VERSION:
            yield folder, JobRecord.of(document)


def make_job(jobs: Path, submission: Submission, *, owner: str, attempt: int, now: float) -> JobFolder:
    """Write a new job down, with the addresses and ports it gets; nothing of it runs yet.

    Where somebody has made the job meanwhile, that one stays.
    """
    metadata = submission.train_job["metadata"]
    folder = JobFolder(jobs / metadata["namespace"] / metadata["name"])
    with locked(jobs / ".lock"):
        if folder.exists:
            return folder
        record = _record(submission, _taken_ports(jobs), owner=owner, attempt=attempt, now=now)
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.make_reserve()
        folder.write("state", to_json(create(record.jobset)))
        folder.write("job", record.document())
    return folder


def _record(submission: Submission, taken: set[int], *, owner: str, attempt: int, now: float) -> JobRecord:
    born = {"uid": str(uuid.uuid4()), "creationTimestamp": rfc3339(now)}
    train_job = {**submission.train_job, "metadata": {**submission.train_job["metadata"], **born}}
    jobset_born = {"uid": str(uuid.uuid4()), "creationTimestamp": rfc3339(now)}
    jobset = {**submission.jobset, "metadata": {**submission.jobset["metadata"], **jobset_born}}
    short = addresses(jobset)
    texts = [json.dumps(each.get("data") or {}) for each in submission.objects if each["kind"] == "ConfigMap"]
    templates = [template for _, template in pod_templates(jobset)]
    named = named_ports(templates, texts, hosts_of(jobset, short, submission.objects))
    ports = choose_ports(sorted({*named, *ssh_ports(templates)}), taken)
    progress = free_port({*taken, *ports.values()})
    return JobRecord(
        train_job,
        jobset,
        submission.objects,
        submission.digest,
        owner,
        attempt,
        now,
        short,
        ports,
        progress,
        secrets.token_urlsafe(32),
        submission.warnings,
        tuple((each.field, each.value, each.reason) for each in submission.plan.decisions),
    )


def _taken_ports(jobs: Path) -> set[int]:
    """The ports that jobs which have not ended have."""
    taken: set[int] = set()
    for folder, record in read_records(jobs):
        if not is_finished(folder.read("status") or {}):
            taken |= {*record.ports.values(), record.progress_port}
    return taken
