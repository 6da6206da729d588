"""A runtime's JobSet spec with older habits put right, once for all its jobs.

One-string commands become words, and extended resources that are only requested are limited as well, since
no API server takes such pods. Containers that need neither stay the dicts they were.
"""

from __future__ import annotations

from collections.abc import Callable

from ..api.legacy_names import limits_from_requests, split_command
from .overlay import Object

Change = Callable[[Object], Object]


def modern_spec(spec: Object) -> Object:
    """The spec with every container as today's API servers and images want it."""
    return _items(spec, "replicatedJobs", _job)


def _items(parent: Object, key: str, change: Change) -> Object:
    old = parent.get(key) or ()
    new = [change(each) for each in old]
    same = all(one is other for one, other in zip(new, old, strict=True))
    return parent if same else {**parent, key: new}


def _job(job: Object) -> Object:
    return _at(job, ("template", "spec", "template", "spec"), _pod)


def _at(parent: Object, path: tuple[str, ...], change: Change) -> Object:
    if not path:
        return change(parent)
    child = parent.get(path[0])
    if not child:
        return parent
    new = _at(child, path[1:], change)
    return parent if new is child else {**parent, path[0]: new}


def _pod(pod: Object) -> Object:
    return _items(_items(pod, "containers", _container), "initContainers", _container)


def _container(container: Object) -> Object:
    command = container.get("command") or ()
    words, _ = split_command(command, path="")
    if words is not command:
        container = {**container, "command": words}
    resources, missing = limits_from_requests(container.get("resources"))
    return {**container, "resources": resources} if missing else container
