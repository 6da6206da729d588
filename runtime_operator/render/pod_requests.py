"""What one pod asks of a node, from its template.

Upstream adds up requests alone. An API server copies limits into requests, but only for Pods, never inside a
template; and the namespace's LimitRange and the RuntimeClass add their share. By default all of that is
counted, because a scheduler will count it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .quantity import Quantity, read

Object = Mapping[str, Any]
Amounts = dict[str, Quantity]


def pod_requests(
    pod: Object,
    *,
    upstream: bool = False,
    limit_ranges: Iterable[Object] = (),
    runtime_classes: Mapping[str, Object] | None = None,
) -> dict[str, str]:
    """Add up what one pod of this spec requests, printed as quantities."""
    defaults = {} if upstream else _container_defaults(limit_ranges)
    amounts = _largest(
        _sum([*(pod.get("containers") or ()), *_sidecars(pod)], defaults, upstream=upstream),
        _init_peak(pod, defaults, upstream=upstream),
    )
    amounts |= _pod_level(pod.get("resources") or {}, upstream=upstream)
    _add(amounts, _overhead(pod, {} if upstream else runtime_classes or {}))
    return {name: str(amount) for name, amount in amounts.items()}


def container_requests(resources: Object, *, upstream: bool = False) -> dict[str, Any]:
    """Say what a container requests; by default a limit stands in where no request is given."""
    requests = resources.get("requests") or {}
    return dict(requests) if upstream else {**(resources.get("limits") or {}), **requests}


def _sidecars(pod: Object) -> list[Object]:
    return [container for container in pod.get("initContainers") or [] if _is_sidecar(container)]


def _is_sidecar(container: Object) -> bool:
    return container.get("restartPolicy") == "Always"


def _sum(containers: Iterable[Object], defaults: Object, *, upstream: bool) -> Amounts:
    amounts: Amounts = {}
    for container in containers:
        _add(amounts, _container(container, defaults, upstream=upstream))
    return amounts


def _container(container: Object, defaults: Object, *, upstream: bool) -> Amounts:
    requests = container_requests(container.get("resources") or {}, upstream=upstream)
    return {name: read(value) for name, value in {**defaults, **requests}.items()}


def _init_peak(pod: Object, defaults: Object, *, upstream: bool) -> Amounts:
    """Find the most that is asked for while init containers run, beside the sidecars started before."""
    peak: Amounts = {}
    running: Amounts = {}
    for container in pod.get("initContainers") or []:
        asked = _container(container, defaults, upstream=upstream)
        _add(asked, running)
        peak = _largest(peak, asked)
        if _is_sidecar(container):
            running = asked
    return peak


def _pod_level(resources: Object, *, upstream: bool) -> Amounts:
    asked = container_requests(resources, upstream=upstream)
    return {
        name: read(value)
        for name, value in asked.items()
        if name in ("cpu", "memory") or name.startswith("hugepages-")
    }


def _overhead(pod: Object, runtime_classes: Mapping[str, Object]) -> Amounts:
    overhead = pod.get("overhead")
    if overhead is None:
        runtime_class = runtime_classes.get(pod.get("runtimeClassName") or "") or {}
        overhead = (runtime_class.get("overhead") or {}).get("podFixed")
    return {name: read(value) for name, value in (overhead or {}).items()}


def _container_defaults(limit_ranges: Iterable[Object]) -> dict[str, Any]:
    """Collect what a namespace requests for a container that says nothing."""
    defaults: dict[str, Any] = {}
    for limit_range in limit_ranges:
        for limit in (limit_range.get("spec") or {}).get("limits") or []:
            if limit.get("type") == "Container":
                defaults |= {**(limit.get("default") or {}), **(limit.get("defaultRequest") or {})}
    return defaults


def _add(amounts: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        amounts[name] = amounts[name] + amount if name in amounts else amount


def _largest(one: Amounts, other: Amounts) -> Amounts:
    larger = dict(one)
    for name, amount in other.items():
        if name not in larger or amount.nano > larger[name].nano:
            larger[name] = amount
    return larger
