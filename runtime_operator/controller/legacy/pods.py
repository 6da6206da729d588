"""The pods of a job as v1's rules look at them: by role and number, the newest of each.

Jobs keep the pods that failed beside the one that took their place, where v1 deleted them; so the newest
counts, and the others tell how often a replica was tried again. Only a pod that failed for good counts
although another came after it, which happens while no operator is there to hold the Job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...api.legacy import LegacyJob, Role

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
FIRST_RETRIED = 128
"""the first exit code that ExitCode takes for a mishap"""

Place = tuple[str, int]
"""a role, and a number within it"""


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod."""

    role: str
    index: int
    name: str
    phase: str
    attempt: int = 0
    """which pod in its place, counted from 0"""
    exit_code: int | None = None
    """of the container that the framework runs in; None where nobody knows"""
    restarts: int = 0
    """of all its containers, in place"""
    evicted: bool = False
    deleted: bool = False
    """somebody took it away while it ran, which counts as a failure"""
    reason: str = ""
    message: str = ""
    """what the pod itself says of its end"""

    @property
    def place(self) -> Place:
        """Where in the job it belongs."""
        return self.role, self.index


@dataclass(frozen=True, slots=True)
class Count:
    """How many replicas of a role are where."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0


def newest(job: LegacyJob, pods: Iterable[PodState]) -> dict[Place, PodState]:
    """The pod that counts, by place."""
    found: dict[Place, PodState] = {}
    for pod in sorted(pods, key=lambda pod: pod.attempt):
        if pod.place not in found or not stays_failed(job, found[pod.place]):
            found[pod.place] = pod
    return found


def counts(job: LegacyJob, pods: Mapping[Place, PodState]) -> dict[str, Count]:
    """How many replicas of each role run, have succeeded and have failed."""
    return {role.name: _count([pod for pod in pods.values() if pod.role == role.name]) for role in job.roles}


def _count(pods: Sequence[PodState]) -> Count:
    phases = [pod.phase for pod in pods]
    return Count(phases.count(RUNNING), phases.count(SUCCEEDED), phases.count(FAILED))


def is_retried(job: LegacyJob, role: Role, pod: PodState) -> bool:
    """Tell whether a pod that failed gets a successor.

    A code that nobody knows (the pod was evicted, its node was lost) is a mishap. The processes of an MPIJob
    do not outlive one of them, so only ExitCode tries again there; in v2beta1 only the
    launcher is tried again.
    """
    if job.kind.uses_ssh:
        return role.name == "Launcher"
    match role.restart_policy:
        case "ExitCode":
            return pod.exit_code is None or pod.exit_code >= FIRST_RETRIED
        case "Never":
            return False
    return job.kind.name != "MPIJob"


def stays_failed(job: LegacyJob, pod: PodState) -> bool:
    """Tell whether a pod has failed and gets no successor."""
    role = job.role(pod.role)
    return pod.phase == FAILED and role is not None and not is_retried(job, role, pod)


def retries(job: LegacyJob, pods: Iterable[PodState]) -> int:
    """How often the job has tried again: pods that failed and were to be replaced, and restarts in place."""
    total = 0
    for pod in pods:
        role = job.role(pod.role)
        if role is None or role.restart_policy == "Never":
            continue
        if pod.phase == RUNNING:
            total += pod.restarts
        total += pod.phase == FAILED and not pod.deleted and is_retried(job, role, pod)
    return total
