"""A job's folder as the values that the protocol speaks of."""

from __future__ import annotations

import time

from ..local.folder import JobFolder, Json
from ..local.process.files import read_json
from ..local.record import JobRecord, read_record
from ..local.status import find
from .description import Description, why
from .protocol import Event, Job
from .times import times
from .views import phase_of, pod_view


def job_view(folder: JobFolder) -> Job:
    """The job as it is now."""
    record, status = read_record(folder), folder.read("status") or {}
    phase = phase_of(status)
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


def event_view(event: Json) -> Event:
    """An event as it was written down."""
    return Event(
        event["time"], event["object"], event["reason"], event["message"], event["type"] == "Warning"
    )


def pod_statuses(folder: JobFolder) -> list[tuple[str, Json]]:
    """The last status of each pod there ever was, in the order in which they were started."""
    found = [(each.name, read_json(each / "status.json") or {}) for each in (folder.path / "pods").glob("*")]
    return sorted(found, key=lambda each: (each[1].get("startTime", ""), each[0]))


def times_view(folder: JobFolder, record: JobRecord) -> tuple[tuple[str, float], ...]:
    """Where the time of a job went."""
    pods = [status for _, status in pod_statuses(folder)]
    return times(record.created, folder.read("status") or {}, pods, now=time.time())


def description_view(folder: JobFolder) -> Description:
    """Everything around a job."""
    record, job = read_record(folder), job_view(folder)
    pods = [pod_view(name, status) for name, status in pod_statuses(folder)]
    return Description(
        job,
        why(job, pods, wanted=len(record.addresses)),
        record.decisions,
        pods,
        [event_view(each) for each in folder.read_events()],
        times_view(folder, record),
        str(folder.path),
    )
