"""An MPI runtime whose template says less than JobSet needs.

People write a launcher before its nodes, or no template at all. The nodes come first then, because a job
can only wait for one that stands before it; the launcher waits until they answer, unless a gang places all
of them at once; and the job is done when the launcher is, since nodes serve ssh for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...api.names import ANCESTOR_LABEL, LAUNCHER, NODE, TRAINER_STEP
from ..overlay import Object
from ..pods import pod_spec

SSHD = ["/usr/sbin/sshd", "-De"]


def is_incomplete(jobs: Sequence[Object]) -> bool:
    """Tell whether there are no jobs, or a launcher that stands before its nodes."""
    names = [job["name"] for job in jobs]
    return not names or (LAUNCHER in names and NODE in names[names.index(LAUNCHER) :])


def completed(spec: Object, *, gang: bool) -> Object:
    """Return the JobSet spec with nodes, launcher and their order."""
    jobs = list(spec.get("replicatedJobs") or ())
    if not is_incomplete(jobs):
        return spec
    if jobs:
        names = [job["name"] for job in jobs]
        jobs.insert(names.index(LAUNCHER), jobs.pop(names.index(NODE)))
    else:
        jobs = [_job(NODE, {}), _job(LAUNCHER, {ANCESTOR_LABEL: TRAINER_STEP})]
    ordered = [_complete(job, gang=gang) for job in jobs]
    success = spec.get("successPolicy") or {"operator": "All", "targetReplicatedJobs": [LAUNCHER]}
    return {**spec, "replicatedJobs": ordered, "successPolicy": success}


def _job(name: str, labels: dict[str, str]) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}} if labels else {}
    pod = {"template": {"spec": {"containers": [{"name": NODE}]}}}
    return {"name": name, "replicas": 1, "groupName": "default", "template": {**template, "spec": pod}}


def _complete(job: Object, *, gang: bool) -> Object:
    if job["name"] == LAUNCHER and not gang and not job.get("dependsOn"):
        return {**job, "dependsOn": [{"name": NODE, "status": "Ready"}]}
    if job["name"] == NODE:
        return _serving_ssh(job)
    return job


def _serving_ssh(job: Object) -> Object:
    """Let nodes that say nothing serve ssh, in the only container they have."""
    containers = pod_spec(job).get("containers") or []
    if len(containers) != 1 or containers[0].get("command") or containers[0].get("args"):
        return job
    pod = {**pod_spec(job), "containers": [{**containers[0], "command": SSHD}]}
    spec = job["template"]["spec"]
    return {
        **job,
        "template": {**job["template"], "spec": {**spec, "template": {**spec["template"], "spec": pod}}},
    }
