"""What happens to a JobSet from outside: pods that fare somehow, and people who change or delete things.

Each returns the next state; settle it afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from .apply import change_pod
from .model import Json, PodReport, State


def create(jobset: Json) -> State:
    """The state of a JobSet that has just been admitted."""
    return State(jobset=jobset)


def report(state: State, uid: str, news: PodReport) -> State:
    """A pod fares so now; of a pod that is gone nobody wants to know."""
    return change_pod(state, uid, lambda pod: replace(pod, report=news))


def replace_jobset(state: State, jobset: Json) -> State:
    """The JobSet reads so now, after admission: suspended, resumed, or with a ttl."""
    return replace(state, jobset=jobset)


def delete_pod(state: State, uid: str, now: float) -> State:
    """Someone deletes a pod: it is told to stop, and counts as failed."""
    return change_pod(state, uid, lambda pod: replace(pod, deleted=pod.deleted or now))


def delete_job(state: State, name: str) -> State:
    """Someone deletes a Job, which is gone at once while its pods still stop."""
    return replace(state, jobs=tuple(job for job in state.jobs if job.name != name))


def delete_jobset(state: State, now: float) -> State:
    """Someone deletes the JobSet, which is gone at once, with its Jobs, while their pods still stop."""
    return replace(state, jobs=(), services=(), deleted=now, gone=True)
