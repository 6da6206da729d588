"""When each patch was last changed: the one thing that admission writes into a TrainJob.

A new patch without a time gets the time of now, and so does one that says something new. A patch that says
what it said before keeps its old time, whatever its sender writes there. The clock is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..overlay import Object


def stamped(document: Object, old: Object | None, now: str) -> Object:
    """Return the TrainJob with the times of its patches; `now` as in 2026-01-02T03:04:05Z."""
    spec = document.get("spec") or {}
    patches = spec.get("runtimePatches")
    if not patches:
        return document
    before = {each["manager"]: each for each in ((old or {}).get("spec") or {}).get("runtimePatches") or ()}
    timed = [_timed(patch, before.get(patch.get("manager")), now) for patch in patches]
    return {**document, "spec": {**spec, "runtimePatches": timed}}


def _timed(patch: Object, before: Object | None, now: str) -> Object:
    if before is None:
        return patch if patch.get("time") else {**patch, "time": now}
    content = _content(patch)
    if content != _content(before):
        return {**patch, "time": now}
    return {**content, "time": before["time"]} if before.get("time") else content


def _content(patch: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in patch.items() if key != "time"}
