"""A headless Service for each replica, so that v1's names resolve, as `NAME-worker-0.NAMESPACE.svc`.

Programs have those names in their configuration and their scripts. A Service finds its one pod by the labels
that JobSet gives it from the start. MPIJobs of v1 reach their hosts otherwise and have none; those of v2beta1
find a host as soon as it has an address, and try until sshd answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...api.legacy.names import INDEX_LABEL
from ...api.names import JOBSET_LABEL
from ...api.shapes import items, named
from ..overlay import Object
from .parts import Layout, Part
from .pods import role_labels

REPLICATED_JOB_LABEL = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX_LABEL = "jobset.sigs.k8s.io/job-index"


def service_bodies(layout: Layout) -> Iterator[tuple[str, dict[str, str], Object]]:
    """The name, the labels and the spec of each Service."""
    if layout.job.kind.uses_kubectl:
        return
    for part, index in layout.places():
        labels = {**role_labels(layout.job, part.role), INDEX_LABEL: str(index)}
        yield layout.host(part.role, index), labels, _spec(layout, part, index)


def _spec(layout: Layout, part: Part, index: int) -> Object:
    return {
        "clusterIP": "None",
        "publishNotReadyAddresses": layout.job.kind.uses_ssh,
        "selector": {
            JOBSET_LABEL: layout.jobset_name(part),
            REPLICATED_JOB_LABEL: part.name,
            JOB_INDEX_LABEL: str(index - part.first),
        },
        "ports": _ports(layout, part),
    }


def _ports(layout: Layout, part: Part) -> list[dict[str, Any]]:
    containers = items(part.role.pod.get("containers"))
    place = named(containers, layout.job.kind.container) or 0
    return [_port(each) for each in items(containers[place].get("ports"))]


def _port(declared: Object) -> dict[str, Any]:
    number = declared["containerPort"]
    port = {"name": declared.get("name", f"port-{number}"), "port": number, "targetPort": number}
    protocol = declared.get("protocol", "TCP")
    return port if protocol == "TCP" else {**port, "protocol": protocol}
