"""What can be done with a job, whoever runs it: one machine or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from .description import Description

Document = Mapping[str, Any]
Phase = Literal["Pending", "Running", "Suspended", "Complete", "Failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is now."""

    name: str
    namespace: str
    phase: Phase
    train_job: Document
    """with its status"""
    reason: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether it has ended, well or badly."""
        return self.phase in ("Complete", "Failed")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a container printed."""

    pod: str
    container: str
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job."""

    time: float
    object: str
    reason: str
    message: str
    warning: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """What a trainer has said of its progress."""

    percent: int | None
    seconds_left: int | None
    metrics: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a job that does not run yet waits for."""

    text: str


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose lines are wanted: of one pod, of a role, of all, or else of the pod that speaks for the job."""

    everybody: bool = False
    pod: str = ""
    role: str = ""
    container: str = ""
    """of these pods, this container only"""

    @property
    def several(self) -> bool:
        """Whether lines of more than one pod come together, so that each needs its pod's name."""
        return self.everybody or bool(self.role)


SPEAKER = Whose()
News = Line | Event | Progress | Waiting
OnLine = Callable[[str], None]


class Jobs(Protocol):
    """The jobs of one namespace."""

    @property
    def namespace(self) -> str:
        """Which one."""

    def create(self, documents: Document | Sequence[Document], *, allow_fewer: bool = False) -> str:
        """Make the job of a TrainJob document, with those it needs, or adopt the equal one that is there."""

    def adopt_or_create(
        self, documents: Document | Sequence[Document], *, owner: str = "", retries: int = 0
    ) -> str:
        """As `create`, for an owner that may ask again: a failed job is replaced `retries` times."""

    def get(self, name: str) -> Job:
        """How a job is now."""

    def list(self) -> Sequence[Job]:
        """All jobs of the namespace."""

    def follow(
        self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None, until: float | None = None
    ) -> Iterator[News]:
        """What happens to a job until it ends: its lines, from the last few on, and what else there is."""

    def logs(self, name: str, whose: Whose = SPEAKER, *, tail: int | None = None) -> Iterator[Line]:
        """What the containers of a job have printed."""

    def events(self, name: str) -> Sequence[Event]:
        """What has happened to a job."""

    def cancel(self, name: str) -> None:
        """End a job; its logs and its status stay."""

    def delete(self, name: str, *, timeout: float | None = None) -> None:
        """End a job and remove all that is left of it."""

    def describe(self, name: str) -> Description:
        """Everything around a job, and why it is where it is."""

    def digest(self, name: str) -> str:
        """How a job failed: cause, last lines, exit codes, where the time went."""

    def exit_code(self, name: str) -> int:
        """The exit code of a job that has ended: 0, or that of what died first."""

    def wait(self, name: str, *, on_line: OnLine | None = None, timeout: float | None = None) -> Job:
        """Wait for a job to end; JobFailed says what died, where and why."""
