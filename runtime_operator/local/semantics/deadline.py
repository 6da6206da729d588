"""A Job's activeDeadlineSeconds, counted from its start; a suspension begins it anew."""

from __future__ import annotations

from .model import Job


def deadline(job: Job, started: float | None) -> float | None:
    """When the Job has run too long, if it has a limit and runs."""
    seconds = job.spec.get("activeDeadlineSeconds")
    if seconds is None or started is None or job.suspended:
        return None
    return started + float(seconds)
