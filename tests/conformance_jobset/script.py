"""Plays the script of a case: each entry is a step, each step is seen once nothing moves any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kfp_trainer.runtime_operator.local import semantics

from .cluster import Cluster
from .patches import patched
from .wording import verdict

REACTION = 1.0
"""so long the Job controller waits after news of a pod, for more of them"""


def play(cluster: Cluster, script: list[Any]) -> Iterator[dict[str, Any]]:
    """Each step's verdict on a patch, if it has one, when the step is over."""
    cluster.quiet()
    yield {}
    for entry in script:
        verdicts: dict[str, Any] = {}
        cluster.controller_runs = True
        for happening in entry if isinstance(entry, list) else [entry]:
            verdicts |= _happen(cluster, happening)
        cluster.now += REACTION
        cluster.controller_runs = True
        cluster.quiet()
        _wait_for_deleted_pods(cluster, entry)
        yield verdicts


def _happen(cluster: Cluster, happening: dict[str, Any]) -> dict[str, Any]:
    """One thing happens."""
    match happening:
        case {"down": True}:
            cluster.controller_runs = False
        case {"end": names, "evicted": True}:
            for name in names.split():
                cluster.evict(name)
        case {"end": names}:
            for name in names.split():
                cluster.end(name, happening.get("code", 0))
        case {"ready": names}:
            for name in names.split():
                cluster.become_ready(name)
        case {"stopped": names}:
            for name in names.split():
                cluster.stopped(name)
        case {"wait": seconds}:
            cluster.wait(seconds)
        case {"suspend": value}:
            return _patch(cluster, {"spec": {"suspend": value}})
        case {"patch": patch}:
            return _patch(cluster, patch)
        case {"delete": what}:
            _delete(cluster, *what.split())
        case _:
            raise ValueError(f"script: {happening}: nobody knows how to play this")
    return {}


def _patch(cluster: Cluster, patch: Any) -> dict[str, Any]:
    old = cluster.state.jobset
    admitted = semantics.admit_change(old, patched(old, patch))
    if not admitted.errors:
        cluster.state = semantics.replace_jobset(cluster.state, admitted.jobset)
    return {"admission": verdict(admitted, old)}


def _delete(cluster: Cluster, kind: str, name: str = "") -> None:
    match kind:
        case "pod":
            cluster.delete_pod(name)
        case "job":
            cluster.state = semantics.delete_job(cluster.state, f"{cluster.state.name}-{name}")
        case "jobset":
            cluster.state = semantics.delete_jobset(cluster.state, cluster.now)


def _wait_for_deleted_pods(cluster: Cluster, entry: Any) -> None:
    """The recording goes on until a pod that was deleted is gone.

    While another pod of its Job is ready, a real API server refuses the Job's counts until the back-off is
    over, so the deleted pod stays as long; we count at once, and wait here for what comes of it.
    """
    happenings = entry if isinstance(entry, list) else [entry]
    if not any(str(each.get("delete", "")).startswith("pod") for each in happenings):
        return
    if any(pod.terminating for pod in cluster.state.pods):
        return  # it is held, and so is seen to stop
    for _ in range(2):
        waits = any(not job.ended and job.backoff.failures and job.status.ready for job in cluster.state.jobs)
        stays = any(pod.deleted is not None and pod.ended for pod in cluster.state.pods)
        if cluster.look_again is not None and (waits or stays):
            cluster.wait(max(cluster.look_again - cluster.now, 0.0))
            cluster.quiet()
