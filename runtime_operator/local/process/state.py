"""The state of a container, as a kubelet would tell it, and the status document made from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from .pod import Kind

NEVER = 0.0
"""the start of a container that never started; a kubelet writes the epoch too"""


def rfc3339(moment: float) -> str:
    """Write a moment in seconds as the API does: UTC, whole seconds."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not running, and why not yet."""

    reason: str
    message: str = ""

    def document(self) -> dict[str, Any]:
        """Return the API's form."""
        return {"waiting": {"reason": self.reason} | ({"message": self.message} if self.message else {})}


@dataclass(frozen=True, slots=True)
class Running:
    """Running since a moment."""

    started: float

    def document(self) -> dict[str, Any]:
        """Return the API's form."""
        return {"running": {"startedAt": rfc3339(self.started)}}


@dataclass(frozen=True, slots=True)
class Terminated:
    """Ended, and how."""

    exit_code: int
    reason: str
    started: float
    finished: float
    signal: int = 0
    message: str = ""
    container_id: str = ""

    def with_message(self, words: str) -> Terminated:
        """Add the container's last words to what is known."""
        return replace(self, message="; ".join(part for part in (self.message, words) if part))

    def document(self) -> dict[str, Any]:
        """Return the API's form."""
        inner: dict[str, Any] = {"exitCode": self.exit_code}
        if self.signal:
            inner["signal"] = self.signal
        inner["reason"] = self.reason
        if self.message:
            inner["message"] = self.message
        inner |= {"startedAt": rfc3339(self.started), "finishedAt": rfc3339(self.finished)}
        return {"terminated": inner | ({"containerID": self.container_id} if self.container_id else {})}


@dataclass(slots=True)
class ContainerState:
    """One container now, and how it ended last time."""

    name: str
    image: str
    kind: Kind
    now: Waiting | Running | Terminated = field(default_factory=lambda: Waiting("PodInitializing"))
    last: Terminated | None = None
    restarts: int = 0
    ready: bool = False
    started: bool = False
    """it runs, and its startup probe, if any, has succeeded"""
    container_id: str = ""

    def document(self) -> dict[str, Any]:
        """Return the API's containerStatus."""
        status: dict[str, Any] = {
            "name": self.name,
            "image": self.image,
            "imageID": "",
            "ready": self.ready,
            "started": self.started,
            "restartCount": self.restarts,
            "state": self.now.document(),
            "lastState": self.last.document() if self.last else {},
        }
        return status | ({"containerID": self.container_id} if self.container_id else {})
