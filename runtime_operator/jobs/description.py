"""All that a person wants to know of one job at once, and the one sentence that says why it is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .protocol import Event, Job


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod as a person looks at it."""

    name: str
    phase: str
    restarts: int
    waiting: str = ""
    """why it does not run yet, if it does not"""
    exit: str = ""
    """how its containers ended, if they did"""


@dataclass(frozen=True, slots=True)
class Description:
    """One job with everything around it."""

    job: Job
    why: str
    decisions: Sequence[tuple[str, str, str]]
    """field, value, reason: what was decided when the job was rendered"""
    pods: Sequence[PodView]
    events: Sequence[Event]
    times: Sequence[tuple[str, float]]
    folder: str
    """where its files are, on one machine"""


def why(job: Job, pods: Iterable[PodView], *, wanted: int) -> str:
    """Say why a job is where it is."""
    pods = list(pods)
    if job.finished or job.phase == "Suspended":
        return job.message
    for pod in pods:
        if pod.waiting:
            return f"pod {pod.name} waits: {pod.waiting}"
    running = sum(pod.phase == "Running" for pod in pods)
    done = sum(pod.phase == "Succeeded" for pod in pods)
    if not pods:
        return f"none of its {wanted} pods has been started yet"
    return f"of {wanted} pods {running} run and {done} have ended well"
