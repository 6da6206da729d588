"""A runtime's JobSet spec with older habits put right, once for all its jobs.

One-string commands become words, and extended resources that are only requested are limited as well, since
no API server takes such pods. Containers that need neither stay the dicts they were.
"""

from __future__ import annotations

from typing import Any

from ..api.legacy_names import limits_from_requests, split_command
from .overlay import Object


def modern_spec(spec: Object) -> Object:
    """The spec with every container as today's API servers and images want it."""
    jobs = spec.get("replicatedJobs") or ()
    changed = [_job(job) for job in jobs]
    if all(new is old for new, old in zip(changed, jobs, strict=True)):
        return spec
    return {**spec, "replicatedJobs": changed}


def _job(job: Object) -> Object:
    return _at(job, ("template", "spec", "template", "spec"), _pod)


def _at(parent: Object, path: tuple[str, ...], change: Any) -> Object:
    if not path:
        changed: Object = change(parent)
        return changed
    child = parent.get(path[0])
    if not child:
        return parent
    new = _at(child, path[1:], change)
    return parent if new is child else {**parent, path[0]: new}


def _pod(pod: Object) -> Object:
    for key in ("containers", "initContainers"):
        old = pod.get(key) or ()
        new = [_container(each) for each in old]
        if any(one is not other for one, other in zip(new, old, strict=True)):
            pod = {**pod, key: new}
    return pod


def _container(container: Object) -> Object:
    command = container.get("command") or ()
    words, _ = split_command(command, path="")
    if words is not command:
        container = {**container, "command": words}
    resources, lacking = limits_from_requests(container.get("resources"))
    return {**container, "resources": resources} if lacking else container
