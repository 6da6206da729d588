"""What goes with what is deleted, as a cluster's garbage collector has it.

A JobSet that goes takes its Jobs with it, a Job that goes stops its pods, and each is gone when nothing
below it is left. A pod whose Job is gone stops; a pod that has stopped and been counted is gone.
"""

from __future__ import annotations

from dataclasses import replace

from .model import State


def collect(state: State, now: float) -> State:
    """The state without what is gone, and with what goes told to stop; the same one if nothing changes."""
    cleaned = _delete_jobset(_delete_jobs(_delete_pods(state, now), now))
    return state if cleaned == state else cleaned


def _delete_pods(state: State, now: float) -> State:
    """Pods of Jobs that go are told to stop; pods that have stopped are gone."""
    staying = {job.uid for job in state.jobs if job.deleted is None}
    known = {job.uid for job in state.jobs}
    pods = []
    for pod in state.pods:
        if pod.deleted is None and pod.job_uid not in staying:
            pod = replace(pod, deleted=now)
        if pod.job_uid not in known and pod.tracked:
            pod = replace(pod, tracked=False)
        if pod.deleted is None or not pod.ended or pod.tracked:
            pods.append(pod)
    return replace(state, pods=tuple(pods))


def _delete_jobs(state: State, now: float) -> State:
    """Jobs of a JobSet that goes are told to go; Jobs that go and have no pods left are gone."""
    used = {pod.job_uid for pod in state.pods}
    jobs = []
    for job in state.jobs:
        if state.deleted is not None and job.deleted is None:
            job = replace(job, deleted=now)
        if job.deleted is None or job.uid in used:
            jobs.append(job)
    return replace(state, jobs=tuple(jobs))


def _delete_jobset(state: State) -> State:
    if state.deleted is None:
        return state
    return replace(state, gone=not state.jobs, services=())
