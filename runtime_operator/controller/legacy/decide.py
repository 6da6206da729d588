"""One look at a job: its next status, what is to be there of its objects, and when to look again.

Whoever calls it renders the job, applies what is wanted and deletes what is not. Pure: the pods, the status
and the time come in, and nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from ...api.legacy import LegacyJob
from ...api.legacy.names import JOB_LABEL, OPERATOR_LABEL, OUR_MANAGER, ROLE_LABEL
from ...conditions import is_true, write_time
from . import conditions as c
from . import wording
from .launcher import launcher_outcome
from .limits import deadline, expiry, limit_passed
from .outcome import Outcome, outcome
from .pods import FAILED, PENDING, RUNNING, SUCCEEDED, Count, Place, PodState, counts, newest, stays_failed

Json = Mapping[str, Any]
NOBODY: frozenset[Place] = frozenset()
LAUNCHER: frozenset[Place] = frozenset({("Launcher", 0)})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be there."""

    jobset: Literal["runs", "rests", "goes"]
    """resting, it keeps the pods that have ended and no other"""
    services: frozenset[Place] | None = None
    """of these replicas; None: of all"""
    pod_group: bool = True
    autoscaler: bool = True
    renews: bool = True
    """whether what the plan holds besides is applied anew: no more once the job has ended"""
    held: frozenset[Place] = NOBODY
    """replicas that failed and are not to be tried again: their Jobs get a parallelism of 0"""


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell about the job."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a job now."""

    status: Json
    wanted: Wanted | None = None
    """None: the job is somebody else's, or as good as gone, and its objects are left alone"""
    events: tuple[Event, ...] = ()
    delete_job: bool = False
    look_again: datetime | None = None


def decide(
    job: LegacyJob, status: Json, pods: Sequence[PodState], now: datetime, *, is_placed: bool = True
) -> Decision:
    """Decide about a job; `is_placed` says that its gang may have pods."""
    if job.policy.managed_by != OUR_MANAGER:
        return Decision(status)
    before = status
    status = _with(job, status, c.CREATED, wording.created(job), now)
    found = newest(job, pods)
    if c.is_finished(status["conditions"]):
        return _ended(job, status, found, now, renews=False)
    if job.policy.suspend:
        return _told(before, _suspended(job, status, now))
    status = _resumed(job, status, now)
    if not is_placed and not found:
        waits = Wanted("rests", services=NOBODY, autoscaler=False)
        return _told(before, Decision(status, waits))
    result = limit_passed(job, status, pods, now)
    status = {"startTime": write_time(now), **status}
    if result is not None:
        return _told(before, _finish(job, status, result, found, now))
    return _told(before, _judged(job, status, found, now))


def refused(job: LegacyJob, status: Json, why: str, now: datetime) -> Decision:
    """End a job that cannot be built; what it has is left as it is."""
    before = status
    if c.is_finished(status.get("conditions") or ()):
        return Decision(status)
    status = _with(job, status, c.CREATED, wording.created(job), now)
    return replace(_told(before, _finish(job, status, Outcome(c.FAILED, why), {}, now)), wanted=None)


def _judged(job: LegacyJob, status: Json, pods: Mapping[Place, PodState], now: datetime) -> Decision:
    numbers = counts(job, pods)
    result = (launcher_outcome if job.kind.uses_ssh else outcome)(job, pods, numbers)
    status = {**status, "replicaStatuses": _replica_statuses(job, pods, numbers)}
    if result is not None and result.type in (c.SUCCEEDED, c.FAILED):
        return _finish(job, status, result, pods, now)
    if result is not None:
        status = _with(job, status, result.type, result.message, now)
    held = frozenset(pod.place for pod in pods.values() if stays_failed(job, pod))
    return Decision(status, Wanted("runs", held=held), look_again=deadline(job, status))


def _finish(
    job: LegacyJob, status: Json, result: Outcome, pods: Mapping[Place, PodState], now: datetime
) -> Decision:
    if job.kind.uses_ssh:
        status = _with_launcher(job, status, pods, now)
    reason = result.reason or result.type
    status = _with(job, status, result.type, result.message, now, reason=reason, whole=result.job_reason)
    status = {**status, "completionTime": write_time(now)}
    if result.type == c.SUCCEEDED:
        status["replicaStatuses"] = {
            name: _all_succeeded(each) for name, each in (status.get("replicaStatuses") or {}).items()
        }
    return _ended(job, status, pods, now, renews=not _launcher_is_over(pods))


def _with_launcher(
    job: LegacyJob, status: Json, pods: Mapping[Place, PodState], now: datetime
) -> dict[str, Any]:
    """What the MPI Operator tells besides of a job that has ended: its counts, and that it does not run."""
    if all(each["type"] != c.RUNNING for each in status["conditions"]):
        status = _with(job, status, c.RUNNING, wording.never_ran(job), now, holds=False)
    return {**status, "replicaStatuses": _replica_statuses(job, pods, counts(job, pods))}


def _ended(
    job: LegacyJob, status: Json, pods: Mapping[Place, PodState], now: datetime, *, renews: bool
) -> Decision:
    """Clean up as cleanPodPolicy says, and delete the job when it has been there long enough."""
    due = expiry(job, status)
    if due is not None and due <= now:
        return Decision(status, delete_job=True)
    left = frozenset(pod.place for pod in pods.values() if pod.phase in (SUCCEEDED, FAILED))
    places = {(role.name, index) for role in job.roles for index in range(role.replicas)}
    gone = places - {pod.place for pod in pods.values() if pod.phase != FAILED}
    if job.kind.uses_ssh and is_true(status["conditions"], c.FAILED):
        gone |= LAUNCHER  # Jobs stop it where v1 lets it be
    match job.policy.clean:
        case "All" if job.kind.uses_ssh:
            wanted = Wanted("rests", services=NOBODY, pod_group=False)
        case "All":
            wanted = Wanted("goes", services=NOBODY, pod_group=False)
        case "Running":
            wanted = Wanted("rests", services=left, pod_group=False)
        case _:
            wanted = Wanted("runs", pod_group=False, held=frozenset(gone))
    return Decision(status, replace(wanted, renews=renews), look_again=due)


def _suspended(job: LegacyJob, status: Json, now: datetime) -> Decision:
    """All pods go, those that have ended too: a job that is resumed begins anew with every replica."""
    if is_true(status["conditions"], c.RUNNING):
        status = _with(job, status, c.RUNNING, wording.stopped(job), now, reason=c.SUSPENDED, holds=False)
    status = _with(job, status, c.SUSPENDED, wording.suspended(job), now)
    known = status.get("replicaStatuses") or {}
    left = {
        role: {name: number for name, number in each.items() if name != "active"}
        for role, each in known.items()
    }
    status = {**status, "replicaStatuses": left}
    return Decision(status, Wanted("goes", services=NOBODY, pod_group=False, autoscaler=False))


def _resumed(job: LegacyJob, status: Json, now: datetime) -> Json:
    if not is_true(status["conditions"], c.SUSPENDED):
        return status
    status = _with(job, status, c.SUSPENDED, wording.resumed(job), now, reason="Resumed", holds=False)
    return {**status, "startTime": write_time(now)}


def _with(
    job: LegacyJob,
    status: Json,
    type_: str,
    message: str,
    now: datetime,
    *,
    reason: str = "",
    whole: str = "",
    holds: bool = True,
) -> dict[str, Any]:
    """The status with a condition; its reason begins with the kind, unless it is given as a whole."""
    put = c.put(
        status.get("conditions") or (),
        type_,
        reason=whole or f"{job.kind.name}{reason or type_}",
        message=message,
        now=write_time(now),
        holds=holds,
    )
    return {**status, "conditions": put}


def _replica_statuses(
    job: LegacyJob, pods: Mapping[Place, PodState], numbers: Mapping[str, Count]
) -> dict[str, Json]:
    """The counts of each role; of an MPIJob whose launcher has ended the workers count no more."""
    over = _launcher_is_over(pods)
    return {
        role.name: {}
        if over and role.name == "Worker"
        else _replica_status(job, role.lower, numbers[role.name])
        for role in job.roles
    }


def _launcher_is_over(pods: Mapping[Place, PodState]) -> bool:
    launcher = pods.get(("Launcher", 0))
    return launcher is not None and launcher.phase not in (PENDING, RUNNING)


def _replica_status(job: LegacyJob, role: str, count: Count) -> dict[str, Any]:
    named = {"active": count.active, "succeeded": count.succeeded, "failed": count.failed}
    status: dict[str, Any] = {name: number for name, number in named.items() if number}
    if job.kind.selects:
        labels = {JOB_LABEL: job.name, OPERATOR_LABEL: job.kind.operator, ROLE_LABEL: role}
        status["selector"] = ",".join(f"{name}={value}" for name, value in labels.items())
    return status


def _all_succeeded(status: Json) -> Json:
    """What runs on when a job has succeeded counts as succeeded."""
    total = status.get("active", 0) + status.get("succeeded", 0)
    rest = {name: value for name, value in status.items() if name not in ("active", "succeeded")}
    return {**rest, "succeeded": total} if total else rest


def _told(before: Json, decision: Decision) -> Decision:
    """The decision with an event for each condition that is new."""
    known = {(each["type"], each["status"], each["reason"]) for each in before.get("conditions") or ()}
    news = [
        Event(each["reason"], each["message"], warning=each["type"] in (c.RESTARTING, c.FAILED))
        for each in decision.status["conditions"]
        if each["type"] not in (c.CREATED, c.RUNNING)
        and (each["type"], each["status"], each["reason"]) not in known
    ]
    return replace(decision, events=tuple(news))
