"""Reads what a step needs of its cluster before it launches anything: its own pod, and the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from ..controller.kinds import CLUSTER_TRAINING_RUNTIMES, TRAINING_RUNTIMES
from ..errors import SetupError
from ..kube.cluster import Cluster
from ..kube.errors import Forbidden, NotFound
from ..kube.http_transport import HttpTransport
from ..kube.in_cluster import is_in_cluster
from ..kube.resource import PODS
from .surroundings import Surroundings

Json = Mapping[str, Any]
POD_VARIABLES = ("KFP_POD_NAME", "HOSTNAME")
"""Kubeflow Pipelines says it in the first; a pod's host name is its own unless somebody chose another"""
CONNECTIONS = 2
RUNTIMES = (TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES)


async def look_around(cluster: Cluster, environ: Mapping[str, str]) -> Surroundings:
    """Read the pod this runs in; nothing where it is none, or has another host name."""
    name = next(filter(None, (environ.get(each) for each in POD_VARIABLES)), "")
    if not name or not is_in_cluster(environ):
        return Surroundings()
    async with HttpTransport(cluster, connections=CONNECTIONS) as transport:
        try:
            return Surroundings(orjson.loads(await transport.get(PODS, cluster.namespace, name)))
        except NotFound:
            return Surroundings()
        except Forbidden as error:
            text = f"{error.message}; apply manifests/kfp, which lets steps of pipelines launch TrainJobs"
            raise SetupError(text) from error


async def read_runtime(cluster: Cluster, namespace: str, train_job: Json) -> Json:
    """Read the runtime of a job: where no kind is said that of the namespace, else that of the cluster.

    Nothing where there is none or it may not be read: admission tells that.
    """
    reference = train_job["spec"]["runtimeRef"]
    async with HttpTransport(cluster, connections=CONNECTIONS) as transport:
        for resource in RUNTIMES:
            if reference.get("kind", resource.kind) == resource.kind:
                with suppress(Forbidden, NotFound):
                    found: Json = orjson.loads(await transport.get(resource, namespace, reference["name"]))
                    return found
    return {}
