"""What the rules want to know of a pod, from the status that the one who runs it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from .semantics import PodReport

USUAL = frozenset(("Ready", "ContainersReady", "Initialized", "PodScheduled", "PodReadyToStartContainers"))
ENDED = ("Succeeded", "Failed")


def report_of(status: Mapping[str, Any], *, now: float) -> PodReport:
    """The report of a pod from its status document."""
    phase = status.get("phase", "Pending")
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    ended = phase in ENDED
    return PodReport(
        phase=phase,
        ready=conditions.get("Ready") == "True",
        restarts=tuple((each["name"], each.get("restartCount", 0)) for each in container_statuses(status)),
        exits=tuple(_exits(status)) if ended else (),
        conditions=tuple((kind, value) for kind, value in conditions.items() if kind not in USUAL),
        finished=max(_ends(status), default=now) if ended else None,
    )


def container_statuses(status: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The statuses of the containers, the main ones first."""
    return (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))


def _exits(status: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for each in container_statuses(status):
        ended = (each.get("state") or {}).get("terminated")
        if ended is not None:
            yield each["name"], ended["exitCode"]


def _ends(status: Mapping[str, Any]) -> Iterator[float]:
    for each in container_statuses(status):
        ended = (each.get("state") or {}).get("terminated")
        if ended and ended.get("finishedAt"):
            yield datetime.fromisoformat(ended["finishedAt"]).timestamp()
