"""The autoscaler of an elastic job: it scales the job itself, through its scale subresource."""

from __future__ import annotations

from typing import Any

from ...api.legacy import LegacyJob
from ...api.legacy.names import API_VERSION
from ...api.shapes import at, items
from .frameworks import elastic_bounds


def autoscaler(job: LegacyJob) -> dict[str, Any] | None:
    """The spec of the HorizontalPodAutoscaler, where the job names metrics to scale by."""
    metrics = items(at(job.spec, "elasticPolicy").get("metrics"))
    if not metrics:
        return None
    least, most = elastic_bounds(job)
    return {
        "scaleTargetRef": {"apiVersion": API_VERSION, "kind": job.kind.name, "name": job.name},
        "minReplicas": least,
        "maxReplicas": most,
        "metrics": list(metrics),
    }
