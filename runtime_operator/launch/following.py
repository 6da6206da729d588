"""Follows a job to its end, however long that takes: a job in a queue waits as long as the queue is.

A job that rests (Kueue has not admitted it, or has taken its place back) is looked at now and then, and why
it rests is told once. An API server that is away is waited for; nothing here gives up by a clock, since a
deadline belongs to the job.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ..jobs import Job, Jobs, Waiting
from ..kube.backoff import Backoff
from ..kube.errors import ApiError
from .telling import Say, Teller

FIRST_LOOK, LAST_LOOK = 1.0, 15.0
T = TypeVar("T")


def follow_to_end(jobs: Jobs, name: str, teller: Teller) -> Job:
    """Tell what happens to a job until it has ended; return it as it is then."""
    while True:
        patiently(lambda: _follow(jobs, name, teller), teller.say)
        job = patiently(lambda: jobs.get(name), teller.say)
        if job.finished:
            return job
        _rest(jobs, name, teller)


def patiently(call: Callable[[], T], say: Say) -> T:
    """Call until the API server answers; what it refuses for good is raised."""
    waits = Backoff(first=1.0, cap=LAST_LOOK)
    while True:
        try:
            return call()
        except ApiError as error:
            if not error.is_retryable:
                raise
            if not waits.tries:
                say(f"the API server gives no answer, and is waited for: {error}")
            time.sleep(waits.next(error.retry_after))


def _follow(jobs: Jobs, name: str, teller: Teller) -> None:
    for news in jobs.follow(name):
        teller.tell(news)


def _rest(jobs: Jobs, name: str, teller: Teller) -> None:
    """Look at a job that rests until it does not, and tell why it does."""
    waits, told = Backoff(first=FIRST_LOOK, cap=LAST_LOOK), ""
    while (job := patiently(lambda: jobs.get(name), teller.say)).phase == "Suspended":
        if job.message != told:
            told = job.message
            teller.tell(Waiting(told))
        time.sleep(waits.next())
