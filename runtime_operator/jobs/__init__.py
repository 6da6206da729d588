"""Create, adopt, follow and cancel a job: one protocol, with this machine or a cluster behind it."""

from __future__ import annotations

from .local import LocalJobs
from .place import open_jobs
from .protocol import SPEAKER, Event, Job, Jobs, Line, News, Progress, Waiting, Whose

__all__ = [
    "SPEAKER",
    "Event",
    "Job",
    "Jobs",
    "Line",
    "LocalJobs",
    "News",
    "Progress",
    "Waiting",
    "Whose",
    "open_jobs",
]
