"""Create, adopt, follow and cancel a job: one protocol, with this machine or a cluster behind it."""

from __future__ import annotations

from .local import LocalJobs
from .place import open_jobs
from .protocol import Event, Job, Jobs, Line, News, Progress, Waiting

__all__ = ["Event", "Job", "Jobs", "Line", "LocalJobs", "News", "Progress", "Waiting", "open_jobs"]
