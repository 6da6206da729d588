"""What the rules can decide to do.

Rules return actions and change nothing; `apply` turns an action into the next state. What follows for
the pods that really run is read from two states, by `commands_between`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .model import Backoff, JobSetStatus, JobStatus, Json


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth telling, about the JobSet, one of its Jobs or a pod."""

    kind: str
    name: str
    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class CreateService:
    """Make the pods of the JobSet known by name, under this domain."""

    name: str


@dataclass(frozen=True, slots=True)
class CreateJob:
    """Make a Job."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class DeleteJob:
    """Stop a Job's pods, and remove it when they have stopped."""

    uid: str


@dataclass(frozen=True, slots=True)
class UpdateJob:
    """Change a Job: suspend it, or resume it with another template."""

    uid: str
    manifest: Json
    forget_start: bool = False


@dataclass(frozen=True, slots=True)
class DeleteJobSet:
    """Remove the JobSet when its Jobs are gone."""


@dataclass(frozen=True, slots=True)
class WriteStatus:
    """What the JobSet's status is from now on."""

    status: JobSetStatus


@dataclass(frozen=True, slots=True)
class CreatePod:
    """Make a pod of a Job, at an index where it is Indexed."""

    job_uid: str
    index: int | None
    failures: int = 0
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class StopPod:
    """Tell a pod to stop; it is removed when it has stopped and has been counted."""

    uid: str


@dataclass(frozen=True, slots=True)
class ReleasePod:
    """A pod has been counted, or need not be; it may be removed when it is told to stop."""

    uid: str


@dataclass(frozen=True, slots=True)
class WriteJobStatus:
    """What a Job's status is from now on, and what is kept about its failures."""

    uid: str
    status: JobStatus
    backoff: Backoff


JobSetAction = CreateService | CreateJob | DeleteJob | UpdateJob | DeleteJobSet | WriteStatus
JobAction = CreatePod | StopPod | ReleasePod | WriteJobStatus
Action = JobSetAction | JobAction | Event


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do now, and when to look again though nothing has happened."""

    actions: tuple[Action, ...] = ()
    look_again: float | None = None


def earlier(*times: float | None) -> float | None:
    """The earliest of some times, None being never."""
    return min((time for time in times if time is not None), default=None)
