"""The kinds that this controller reads and writes, and how others are found.

What every cluster of ours serves stands here. PodGroups, and whatever a plug-in of another package makes, may
come and go with their CRDs: their place is asked of the API server.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..api.names import CLUSTER_TRAINING_RUNTIME, GROUP, TRAIN_JOB, TRAINING_RUNTIME, VERSION
from ..kube import resource
from ..kube.discovery import discover
from ..kube.resource import Resource
from ..kube.transport import Transport
from ..render.framework import Watch

MANAGER = "trainer"
"""our field manager; Trainer 2.3 has the same, so its objects are ours to go on with"""

TRAIN_JOBS = Resource(GROUP, VERSION, "trainjobs", TRAIN_JOB)
TRAINING_RUNTIMES = Resource(GROUP, VERSION, "trainingruntimes", TRAINING_RUNTIME)
CLUSTER_TRAINING_RUNTIMES = Resource(
    GROUP, VERSION, "clustertrainingruntimes", CLUSTER_TRAINING_RUNTIME, namespaced=False
)
JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
BUILT_IN = {
    (each.api_version, each.kind): each
    for each in (
        TRAIN_JOBS,
        TRAINING_RUNTIMES,
        CLUSTER_TRAINING_RUNTIMES,
        JOBSETS,
        resource.CONFIG_MAPS,
        resource.SECRETS,
        resource.LIMIT_RANGES,
        resource.RUNTIME_CLASSES,
    )
}


async def served(transport: Transport, wanted: Iterable[Watch]) -> dict[Watch, Resource]:
    """Those of the wanted kinds that the API server serves now."""
    found: dict[Watch, Resource] = {}
    asked: dict[str, tuple[Resource, ...]] = {}
    for each in wanted:
        if each.api_version not in asked:
            asked[each.api_version] = await discover(transport, each.api_version)
        for one in asked[each.api_version]:
            if one.kind == each.kind:
                found[each] = one
    return found
