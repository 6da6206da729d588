"""When a runtime patch last changed: the one thing admission writes into a TrainJob.

A patch whose content stays keeps its time, whatever the sender wrote there; one that changed is stamped;
one that is new keeps the time it came with, or is stamped. The time comes from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shapes import at, items, mapping


def stamp_patches(
    document: Mapping[str, Any], old: Mapping[str, Any] | None = None, *, now: str
) -> Mapping[str, Any]:
    """Return the TrainJob with the times of its runtime patches; the given ones never change."""
    patches = items(at(document, "spec").get("runtimePatches"))
    if not patches:
        return document
    before = {
        mapping(patch).get("manager"): mapping(patch)
        for patch in items(at(old or {}, "spec").get("runtimePatches"))
    }
    stamped = [_stamped(one, before, now) if isinstance(one, Mapping) else one for one in patches]
    return {**document, "spec": {**document["spec"], "runtimePatches": stamped}}


def _stamped(patch: Mapping[str, Any], before: Mapping[Any, Any], now: str) -> dict[str, Any]:
    previous, content = before.get(patch.get("manager")), _content(patch)
    if previous is None:
        return {**content, "time": patch.get("time") or now}
    if content != _content(previous):
        return {**content, "time": now}
    return {**previous}


def _content(patch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in patch.items() if name != "time"}
