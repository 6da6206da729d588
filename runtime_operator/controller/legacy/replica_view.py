"""What is remembered of a pod of an older kind: a few values out of several kilobytes.

Two views are equal when nothing changed that v1's rules look at, so an equal view wakes nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...api.legacy.names import INDEX_LABEL, JOB_LABEL, JOB_ROLE_LABEL

Json = Mapping[str, Any]

BATCH_JOB_LABEL = "batch.kubernetes.io/job-name"
JOBSET_UID_LABEL = "jobset.sigs.k8s.io/jobset-uid"
EVICTED = "Evicted"
LONGEST = 1000  # characters of a message that are kept


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """One pod."""

    place: str
    """the Job that runs it, of which each replica has one"""
    jobset_uid: str
    name: str
    uid: str
    created: str
    phase: str
    is_going: bool
    """somebody has deleted it"""
    exits: tuple[tuple[str, int], ...]
    """of its containers that have ended"""
    restarts: int
    evicted: bool
    reason: str
    message: str
    """what the pod itself says of its end"""
    labels: tuple[str | None, str | None]
    """its number and its role in the job, as far as they are written on it"""


def replica(pod: Json) -> ReplicaView | None:
    """Take from a pod what is remembered of it; None of one that is of no older kind."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    labels = metadata.get("labels") or {}
    if JOB_LABEL not in labels:
        return None
    return ReplicaView(
        place=labels.get(BATCH_JOB_LABEL, ""),
        jobset_uid=labels.get(JOBSET_UID_LABEL, ""),
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        phase=status.get("phase", ""),
        is_going="deletionTimestamp" in metadata,
        exits=tuple(_exits(status)),
        restarts=sum(each.get("restartCount") or 0 for each in _containers(status)),
        evicted=_is_evicted(status),
        reason=status.get("reason", ""),
        message=(status.get("message") or "")[:LONGEST],
        labels=(labels.get(INDEX_LABEL), labels.get(JOB_ROLE_LABEL)),
    )


def _exits(status: Json) -> Iterator[tuple[str, int]]:
    for each in status.get("containerStatuses") or ():
        ended = (each.get("state") or {}).get("terminated")
        if ended:
            yield each["name"], ended.get("exitCode", 0)


def _containers(status: Json) -> Iterator[Json]:
    for part in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(part) or ()


def _is_evicted(status: Json) -> bool:
    return status.get("reason") == EVICTED or any(
        each["type"] == "DisruptionTarget" and each["status"] == "True"
        for each in status.get("conditions") or ()
    )
