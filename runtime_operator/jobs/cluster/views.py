"""A cluster's objects as the values that the protocol speaks of."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...api.names import DATASET_STEP, LAUNCHER, MODEL_STEP, NODE
from ...conditions import find
from ..description import Description, why
from ..protocol import Document, Event, Job, Whose
from ..times import times
from ..views import phase_of, pod_view

REPLICATED_JOB_LABEL = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX_LABEL = "jobset.sigs.k8s.io/job-index"
POD_INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
INITIALIZERS = (DATASET_STEP, MODEL_STEP)


def job_view(train_job: Document) -> Job:
    """The job as it is now; while it waits, its message says for what."""
    status = train_job.get("status") or {}
    phase = phase_of(status)
    condition = find(status.get("conditions") or (), phase) or {}
    message = condition.get("message") or status.get("why") or ""
    metadata = train_job["metadata"]
    whole = {**train_job, "status": status}
    return Job(metadata["name"], metadata["namespace"], phase, whole, condition.get("reason", ""), message)


def event_view(event: Mapping[str, Any]) -> Event:
    """An event, at the last time it was seen."""
    about = event["involvedObject"]
    return Event(
        event_time(event),
        f"{about.get('kind', '')}/{about.get('name', '')}",
        event.get("reason", ""),
        event.get("message", ""),
        event.get("type") == "Warning",
    )


def event_time(event: Mapping[str, Any]) -> float:
    """When an event was seen last; new-style events have a series or one time only."""
    series = event.get("series") or {}
    moments = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    found = next(filter(None, moments), None) or event["metadata"]["creationTimestamp"]
    return datetime.fromisoformat(found).timestamp()


def is_about(event: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    """Whether an event tells of a job or of what was made for it; of a namesake's it does not."""
    about, metadata = event.get("involvedObject") or {}, job["metadata"]
    if about.get("kind") == "TrainJob":
        return (about.get("name"), about.get("uid", metadata["uid"])) == (metadata["name"], metadata["uid"])
    if event_time(event) < datetime.fromisoformat(metadata["creationTimestamp"]).timestamp():
        return False
    name = str(about.get("name", ""))
    if about.get("kind") in ("JobSet", "PodGroup"):
        return bool(name == metadata["name"])
    replicated = [each["name"] for each in (job.get("status") or {}).get("jobsStatus") or ()] or [NODE]
    return about.get("kind") in ("Job", "Pod") and any(
        name.startswith(f"{metadata['name']}-{each}-") for each in replicated
    )


def in_order(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects in the order in which they were made."""
    return sorted(objects, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"]))


def speaks(pod: Mapping[str, Any], train_job: Mapping[str, Any]) -> bool:
    """Whether a pod is the one that speaks for its job: the launcher, or the first node of the trainer."""
    labels = pod["metadata"].get("labels") or {}
    if labels.get(JOB_INDEX_LABEL, "0") != "0" or labels.get(POD_INDEX_LABEL, "0") != "0":
        return False
    counted = [each["name"] for each in (train_job.get("status") or {}).get("jobsStatus") or ()]
    names = counted or [str(labels.get(REPLICATED_JOB_LABEL))]
    return labels.get(REPLICATED_JOB_LABEL) == _speaking(names)


def is_wanted(pod: Mapping[str, Any], whose: Whose, train_job: Mapping[str, Any]) -> bool:
    """Whether the lines of a pod are wanted."""
    if whose.pod:
        return bool(pod["metadata"]["name"] == whose.pod)
    if whose.role:
        labels = pod["metadata"].get("labels") or {}
        return labels.get(REPLICATED_JOB_LABEL) == whose.role.lower()
    return whose.everybody or speaks(pod, train_job)


def containers_of(pod: Mapping[str, Any], whose: Whose) -> Iterator[str]:
    """The names of a pod's containers whose lines are wanted, in the order in which they run."""
    for kind in ("initContainers", "containers"):
        for each in pod["spec"].get(kind) or ():
            if whose.container in ("", each["name"]):
                yield each["name"]


def _speaking(names: Sequence[str]) -> str:
    for wanted in (LAUNCHER, NODE):
        if wanted in names:
            return wanted
    others = [name for name in names if name not in INITIALIZERS]
    return others[-1] if others else ""


def pod_times(train_job: Document, pods: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, float], ...]:
    """Where the time of a job went."""
    created = datetime.fromisoformat(train_job["metadata"]["creationTimestamp"]).timestamp()
    statuses = [pod.get("status") or {} for pod in pods]
    return times(created, train_job.get("status") or {}, statuses, now=time.time())


def description_view(
    train_job: Document,
    pods: Sequence[Mapping[str, Any]],
    events: Sequence[Event],
    decisions: Sequence[tuple[str, str, str]],
) -> Description:
    """Everything around a job."""
    job = job_view(train_job)
    views = [pod_view(pod["metadata"]["name"], pod.get("status") or {}) for pod in pods]
    told = (train_job.get("status") or {}).get("why")
    reason = told or why(job, views, wanted=len(views))
    return Description(job, reason, decisions, views, events, pod_times(train_job, pods), folder="")
