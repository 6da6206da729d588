"""A job's folder as the values that the protocol speaks of."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..api.names import COMPLETE, FAILED, SUSPENDED
from ..local.folder import JobFolder, Json
from ..local.process.files import read_json
from ..local.record import JobRecord, read_record
from ..local.reporting import container_statuses
from ..local.status import find, holds
from .description import Description, PodView, why
from .protocol import Event, Job, Phase, Progress
from .times import times


def job_view(folder: JobFolder) -> Job:
    """The job as it is now."""
    record, status = read_record(folder), folder.read("status") or {}
    phase = _phase(status)
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


def _phase(status: Mapping[str, Any]) -> Phase:
    if holds(status, FAILED):
        return "Failed"
    if holds(status, COMPLETE):
        return "Complete"
    if holds(status, SUSPENDED):
        return "Suspended"
    return "Running" if "startTime" in status else "Pending"


def event_view(event: Json) -> Event:
    """An event as it was written down."""
    return Event(
        event["time"], event["object"], event["reason"], event["message"], event["type"] == "Warning"
    )


def progress_view(reported: Json) -> Progress:
    """The progress as a trainer reported it."""
    metrics = {each["name"]: each["value"] for each in reported.get("metrics") or ()}
    return Progress(reported.get("progressPercentage"), reported.get("estimatedRemainingSeconds"), metrics)


def pod_statuses(folder: JobFolder) -> list[tuple[str, Json]]:
    """The last status of each pod there ever was, in the order in which they were started."""
    found = [(each.name, read_json(each / "status.json") or {}) for each in (folder.path / "pods").glob("*")]
    return sorted(found, key=lambda each: (each[1].get("startTime", ""), each[0]))


def pod_view(name: str, status: Mapping[str, Any]) -> PodView:
    """A pod from its status."""
    containers = container_statuses(status)
    waits = [(each.get("state") or {}).get("waiting") or {} for each in containers]
    waiting = next((": ".join(filter(None, (w.get("reason"), w.get("message")))) for w in waits if w), "")
    return PodView(
        name,
        status.get("phase", "Pending"),
        sum(each.get("restartCount", 0) for each in containers),
        waiting if status.get("phase", "Pending") in ("Pending", "Running") else "",
        ", ".join(filter(None, (_exit(each) for each in containers))),
    )


def _exit(container: Mapping[str, Any]) -> str:
    ended = (container.get("state") or {}).get("terminated")
    return f"{container['name']} {ended['exitCode']} ({ended['reason']})" if ended else ""


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
