"""The next state after an action: one small function an action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from . import actions as act
from .build_pod import build_pod
from .model import Job, Pod, State


def apply_all(state: State, actions: Iterable[act.Action], now: float) -> State:
    """The state after some actions, in their order."""
    for action in actions:
        if not isinstance(action, act.Event):
            state = _APPLY[type(action)](state, action, now)
    return state


def change_job(state: State, uid: str, change: Callable[[Job], Job]) -> State:
    """The state with one Job changed."""
    return replace(state, jobs=tuple(change(job) if job.uid == uid else job for job in state.jobs))


def change_pod(state: State, uid: str, change: Callable[[Pod], Pod]) -> State:
    """The state with one pod changed."""
    return replace(state, pods=tuple(change(pod) if pod.uid == uid else pod for pod in state.pods))


def _create_service(state: State, action: act.CreateService, _now: float) -> State:
    return replace(state, services=(*state.services, action.name))


def _create_job(state: State, action: act.CreateJob, now: float) -> State:
    name = action.manifest["metadata"]["name"]
    serial = state.serial + 1
    job = Job(uid=f"{name}.{serial}", name=name, manifest=action.manifest, created=now)
    return replace(state, jobs=(*state.jobs, job), serial=serial)


def _delete_job(state: State, action: act.DeleteJob, now: float) -> State:
    return change_job(state, action.uid, lambda job: replace(job, deleted=now))


def _update_job(state: State, action: act.UpdateJob, _now: float) -> State:
    def updated(job: Job) -> Job:
        started = None if action.forget_start else job.status.started
        return replace(job, manifest=action.manifest, status=replace(job.status, started=started))

    return change_job(state, action.uid, updated)


def _delete_jobset(state: State, _action: act.DeleteJobSet, now: float) -> State:
    return replace(state, deleted=now)


def _write_status(state: State, action: act.WriteStatus, _now: float) -> State:
    return replace(state, status=action.status)


def _create_pod(state: State, action: act.CreatePod, now: float) -> State:
    job = next(each for each in state.jobs if each.uid == action.job_uid)
    serial = state.serial + 1
    stem = job.name if action.index is None else f"{job.name}-{action.index}"
    uid, counts = f"{stem}.{serial}", {"failures": action.failures, "ignored": action.ignored}
    pod = build_pod(job, action.index, uid=uid, now=now, **counts)
    return replace(state, pods=(*state.pods, pod), serial=serial)


def _stop_pod(state: State, action: act.StopPod, now: float) -> State:
    return change_pod(state, action.uid, lambda pod: replace(pod, deleted=now))


def _release_pod(state: State, action: act.ReleasePod, _now: float) -> State:
    return change_pod(state, action.uid, lambda pod: replace(pod, tracked=False))


def _write_job_status(state: State, action: act.WriteJobStatus, _now: float) -> State:
    return change_job(
        state, action.uid, lambda job: replace(job, status=action.status, backoff=action.backoff)
    )


_APPLY: dict[type, Callable[[State, Any, float], State]] = {
    act.CreateService: _create_service,
    act.CreateJob: _create_job,
    act.DeleteJob: _delete_job,
    act.UpdateJob: _update_job,
    act.DeleteJobSet: _delete_jobset,
    act.WriteStatus: _write_status,
    act.CreatePod: _create_pod,
    act.StopPod: _stop_pod,
    act.ReleasePod: _release_pod,
    act.WriteJobStatus: _write_job_status,
}
