"""dependsOn: a replicated Job has no Jobs until those that it depends on are ready, or complete."""

from __future__ import annotations

from collections.abc import Mapping

from .labels import replicas_of
from .model import Json, ReplicatedJobStatus


def is_met(replicated_job: Json, seen: Mapping[str, Json], counts: Mapping[str, ReplicatedJobStatus]) -> bool:
    """Whether all dependencies are met; `seen` are the replicated Jobs up to this one."""
    return all(
        _reached(each["status"], replicas_of(seen[each["name"]]), counts[each["name"]])
        for each in replicated_job.get("dependsOn") or []
    )


def _reached(status: str, replicas: int, count: ReplicatedJobStatus) -> bool:
    """Complete: every Job has succeeded. Ready: every Job is ready, or has ended in whatever way."""
    if status == "Complete":
        return count.succeeded == replicas
    return count.ready + count.failed + count.succeeded == replicas
