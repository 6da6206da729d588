"""How a JobSet ended that is gone, by the events that it left.

A runtime may let JobSets go as soon as they have ended. Where nobody watched at that moment, a job that had
one and has none may have run to its end or lost it to a person's hand. Only an event tells which: JobSet
writes one of every end, and an API server keeps it for an hour. Without one the JobSet is made again, as
upstream does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..conditions import is_finished, read_time, write_time
from ..render.plan import Object

ENDS = {
    "AllJobsCompleted": "Completed",
    "FailedJobs": "Failed",
    "ReachedMaxRestarts": "Failed",
    "FailJobSetFailurePolicyAction": "Failed",
}
"""the reasons of JobSet's events, and the condition that each of them tells of"""


def events_of(name: str) -> str:
    """The field selector of what was told about a JobSet."""
    return f"involvedObject.kind=JobSet,involvedObject.name={name}"


def had_jobset(job: Object) -> bool:
    """Whether a job that has not ended was seen with a JobSet."""
    status = job.get("status") or {}
    return bool(status.get("jobsStatus")) and not is_finished(status.get("conditions") or ())


def ended_jobset(job: Object, events: Iterable[Object]) -> Object | None:
    """The JobSet of this job as it must have been at its end; None if no event tells of one."""
    since = read_time(job["metadata"]["creationTimestamp"])
    told = [
        (at, each) for each in events if each.get("reason") in ENDS and (at := _when(each)) and at >= since
    ]
    if not told:
        return None
    at, last = max(told, key=lambda each: each[0])
    owner = {"uid": job["metadata"]["uid"], "controller": True}
    metadata = {key: job["metadata"][key] for key in ("name", "namespace")}
    condition = {
        "type": ENDS[last["reason"]],
        "status": "True",
        "reason": last["reason"],
        "message": last.get("message", ""),
        "lastTransitionTime": write_time(at),
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {**metadata, "uid": "", "ownerReferences": [owner]},
        "spec": {},
        "status": {
            "conditions": [condition],
            "replicatedJobsStatus": list(job["status"]["jobsStatus"]),
        },
    }


def _when(event: Object) -> datetime | None:
    text = event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp")
    return read_time(text) if text else None
