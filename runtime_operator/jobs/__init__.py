"""Create, adopt, follow and cancel a job: one protocol, with a back end behind it."""

from __future__ import annotations

from ..settings import read_settings
from .local import LocalJobs
from .protocol import Event, Job, Jobs, Line, News, Progress

__all__ = ["Event", "Job", "Jobs", "Line", "LocalJobs", "News", "Progress", "open_jobs"]


def open_jobs(*, namespace: str = "default") -> LocalJobs:
    """Open the jobs of a namespace on this machine."""
    return LocalJobs(read_settings().jobs, namespace=namespace)
