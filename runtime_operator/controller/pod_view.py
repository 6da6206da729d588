"""What is remembered of a pod: where it is, what it waits for, and who in it died of what.

A pod is several kilobytes of JSON and changes five times in its life; a controller of thousands keeps these
few values instead. Two views are equal when nothing changed that a person would ask about, so an equal view
wakes nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..api.names import JOBSET_LABEL
from ..render.plan import Object
from .legacy.replica_view import ReplicaView, replica

UID_LABEL = "jobset.sigs.k8s.io/jobset-uid"
ATTEMPT_LABEL = "jobset.sigs.k8s.io/restart-attempt"
PULLING = frozenset({"ErrImagePull", "ImagePullBackOff"})
"""these two take turns while one image cannot be pulled; they are one trouble"""
TROUBLES = PULLING | {
    "InvalidImageName",
    "ErrImageNeverPull",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
}
"""reasons of a waiting container that do not pass by themselves"""
LONGEST = 1000  # characters of a message that are kept


@dataclass(frozen=True, slots=True)
class Death:
    """A container, or a whole pod, that ended badly."""

    pod: str
    node: str
    container: str
    """empty where the pod as a whole was ended"""
    exit_code: int | None
    reason: str
    message: str
    finished: str
    started: str = ""
    memory: str = ""
    """the limit of the container, where it has one"""
    is_restarted: bool = False
    """the container runs again: its log is the previous one"""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a pod does not run, in the words of the scheduler or the kubelet."""

    reason: str
    message: str
    container: str = ""
    image: str = ""


@dataclass(frozen=True, slots=True)
class PodView:
    """One pod."""

    name: str
    job: str
    """the JobSet it belongs to"""
    job_uid: str
    node: str
    phase: str
    attempt: int
    """of how many restarts of its JobSet it is a pod"""
    trouble: Trouble | None
    deaths: tuple[Death, ...]
    replica: ReplicaView | None = None
    """what the rules of the older kinds look at"""


def view(pod: Object) -> PodView:
    """Take from a pod what is remembered of it."""
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    labels = metadata.get("labels") or {}
    attempt = labels.get(ATTEMPT_LABEL, "")
    node = spec.get("nodeName", "")
    return PodView(
        name=metadata["name"],
        job=labels.get(JOBSET_LABEL, ""),
        job_uid=labels.get(UID_LABEL, ""),
        node=node,
        phase=status.get("phase", ""),
        attempt=int(attempt) if attempt.isdecimal() else 0,
        trouble=None if status.get("phase") in ("Succeeded", "Failed") else _trouble(metadata, spec, status),
        deaths=tuple(_deaths(metadata["name"], node, spec, status)),
        replica=replica(pod),
    )


def _trouble(metadata: Object, spec: Object, status: Object) -> Trouble | None:
    ended = _of_the_pod(metadata["name"], spec.get("nodeName", ""), status)
    if ended is not None:
        return Trouble(ended.reason, ended.message)
    for each in status.get("conditions") or ():
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return Trouble(each.get("reason", ""), (each.get("message") or "")[:LONGEST])
    for each in _container_statuses(status):
        waiting = (each.get("state") or {}).get("waiting") or {}
        if (reason := waiting.get("reason")) in TROUBLES:
            image = _container(spec, each["name"]).get("image", "")
            one = "ImagePullBackOff" if reason in PULLING else reason
            return Trouble(one, (waiting.get("message") or "")[:LONGEST], each["name"], image)
    return None


def _deaths(pod: str, node: str, spec: Object, status: Object) -> Iterator[Death]:
    whole = _of_the_pod(pod, node, status)
    if whole is not None:
        yield whole
    for each in _container_statuses(status):
        limit = ((_container(spec, each["name"]).get("resources") or {}).get("limits") or {}).get(
            "memory", ""
        )
        for part in ("lastState", "state"):
            ended = (each.get(part) or {}).get("terminated")
            if ended and ended.get("exitCode"):
                yield Death(
                    pod,
                    node,
                    each["name"],
                    ended["exitCode"],
                    ended.get("reason", ""),
                    (ended.get("message") or "")[-LONGEST:],
                    ended.get("finishedAt") or "",
                    ended.get("startedAt") or "",
                    str(limit),
                    is_restarted=part == "lastState",
                )


def _of_the_pod(pod: str, node: str, status: Object) -> Death | None:
    """What ended the pod from outside: an eviction, a preemption, the loss of its node."""
    said = next(
        (
            each
            for each in status.get("conditions") or ()
            if each["type"] == "DisruptionTarget" and each["status"] == "True"
        ),
        None,
    )
    reason = status.get("reason") or (said or {}).get("reason") or ""
    if not reason or (said is None and status.get("phase") != "Failed"):
        return None
    message = status.get("message") or (said or {}).get("message") or ""
    since = (said or {}).get("lastTransitionTime") or status.get("startTime") or ""
    return Death(pod, node, "", None, reason, message[:LONGEST], since)


def _container_statuses(status: Object) -> Iterator[Object]:
    for part in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(part) or ()


def _container(spec: Object, name: str) -> Object:
    for part in ("initContainers", "containers"):
        for each in spec.get(part) or ():
            if each["name"] == name:
                found: Object = each
                return found
    return {}
