"""A job's status and a pod's status as the values that the protocol speaks of, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..api.names import COMPLETE, FAILED, SUSPENDED
from ..local.reporting import container_statuses
from ..local.status import holds
from .description import PodView
from .protocol import Phase, Progress


def phase_of(status: Mapping[str, Any]) -> Phase:
    """Where a job is; it runs once all its pods did."""
    if holds(status, FAILED):
        return "Failed"
    if holds(status, COMPLETE):
        return "Complete"
    if holds(status, SUSPENDED):
        return "Suspended"
    return "Running" if "startTime" in status else "Pending"


def progress_view(reported: Mapping[str, Any]) -> Progress:
    """The progress as a trainer reported it."""
    metrics = {each["name"]: each["value"] for each in reported.get("metrics") or ()}
    return Progress(reported.get("progressPercentage"), reported.get("estimatedRemainingSeconds"), metrics)


def pod_view(name: str, status: Mapping[str, Any]) -> PodView:
    """A pod from its status."""
    containers = container_statuses(status)
    phase = status.get("phase", "Pending")
    waits = [(each.get("state") or {}).get("waiting") or {} for each in containers]
    waits += [each for each in status.get("conditions") or () if _is_not_placed(each)]
    waiting = next((": ".join(filter(None, (w.get("reason"), w.get("message")))) for w in waits if w), "")
    return PodView(
        name,
        phase,
        sum(each.get("restartCount", 0) for each in containers),
        waiting if phase in ("Pending", "Running") else "",
        ", ".join(filter(None, (_exit(each) for each in containers))),
    )


def _is_not_placed(condition: Mapping[str, Any]) -> bool:
    return bool(condition["type"] == "PodScheduled" and condition["status"] == "False")


def _exit(container: Mapping[str, Any]) -> str:
    ended = (container.get("state") or {}).get("terminated")
    return f"{container['name']} {ended['exitCode']} ({ended['reason']})" if ended else ""
