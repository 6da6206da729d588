"""What a pod tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["started", "ready", "unready", "exited", "waiting", "phase", "note"]


@dataclass(frozen=True, slots=True)
class PodEvent:
    """One thing that happened; the pod's status tells the rest."""

    kind: Kind
    container: str = ""
    """empty for what concerns the pod"""
    reason: str = ""
    """as a kubelet would name it: Started, Completed, Error, OOMKilled, CrashLoopBackOff, Unhealthy …"""
    message: str = ""
    exit_code: int | None = None
    restarts: int = 0


Listener = Callable[[PodEvent], None]
