"""The status document of a pod, as a kubelet writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .phase import Phase, conditions, quality_of_service
from .place import Place
from .pod import Object
from .state import ContainerState, rfc3339


def status_document(
    pod: Object,
    place: Place,
    states: Sequence[ContainerState],
    *,
    phase: Phase,
    before: Mapping[str, Any],
    begun: float,
    now: float,
    reason: str,
    message: str,
) -> dict[str, Any]:
    """Return the status; a condition keeps the time of `before` while it does not change."""
    document: dict[str, Any] = {
        "phase": phase,
        "conditions": _timed(conditions(states, phase), before.get("conditions") or (), now=now),
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
        "podIP": place.pod_ip,
        "podIPs": [{"ip": place.pod_ip}],
        "startTime": rfc3339(begun),
        "qosClass": quality_of_service(pod),
        "containerStatuses": [state.document() for state in states if state.kind == "main"],
    }
    if inits := [state.document() for state in states if state.kind != "main"]:
        document["initContainerStatuses"] = inits
    return document | {key: text for key, text in (("reason", reason), ("message", message)) if text}


def _timed(
    fresh: list[dict[str, str]], old: Sequence[Mapping[str, str]], *, now: float
) -> list[dict[str, Any]]:
    """Add to each condition when it took its status."""
    known = {(one["type"], one["status"]): one["lastTransitionTime"] for one in old}
    return [
        one | {"lastTransitionTime": known.get((one["type"], one["status"]), rfc3339(now))} for one in fresh
    ]
