"""Waits for a job to end, by following it: the same for every back end."""

from __future__ import annotations

import time

from ..errors import JobFailed, Retryable
from .protocol import Job, Jobs, Line, OnLine


def wait(jobs: Jobs, name: str, *, on_line: OnLine | None = None, timeout: float | None = None) -> Job:
    """Wait for a job to end; JobFailed says what died, where and why."""
    end = None if timeout is None else time.monotonic() + timeout
    for news in jobs.follow(name, until=end):
        if isinstance(news, Line) and on_line:
            on_line(news.text)
    job = jobs.get(name)
    if job.phase == "Failed":
        raise JobFailed(jobs.digest(name))
    if not job.finished and job.phase != "Suspended":
        raise Retryable(f"TrainJob {name}: has not ended within {timeout:.0f} s; it goes on", after=0)
    return job
