"""The labels of one replica that a template shared by all replicas cannot hold."""

from __future__ import annotations

from collections.abc import Mapping

from ...api.legacy import LegacyJob, Role
from ...api.legacy.names import INDEX_LABEL, JOB_ROLE_LABEL
from ...render.legacy.pods import replica_labels
from .replica_view import ReplicaView


def missing_labels(job: LegacyJob, role: Role, index: int, pod: ReplicaView) -> Mapping[str, str]:
    """What is yet to be written on a pod."""
    there = dict(zip((INDEX_LABEL, JOB_ROLE_LABEL), pod.labels, strict=True))
    wanted = replica_labels(job, role, index)
    return {name: value for name, value in wanted.items() if there.get(name) != value}
