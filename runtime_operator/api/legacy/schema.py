"""The schemas of the older kinds, as an API server is told about them.

They are those of kubeflow.org/v1: few bounds, no enums, one rule. Pod templates are Kubernetes' own. What v1
leaves to its webhooks stands in `render.legacy.admission`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kube import kube_schema
from ..node import Node, make_node
from ..schema import INT_OR_STRING
from ..wire import IMMUTABLE, OPEN
from .kinds import MPI_BY_SSH, LegacyKind

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer", "format": "int32"}
LONG: Schema = {"type": "integer", "format": "int64"}
METRICS: Schema = {"type": "array", "items": {"type": "object", **OPEN}}
"""those of an autoscaler, which its API server checks"""


@cache
def legacy_node(kind: LegacyKind) -> Node:
    """Return the root of a kind's schema, ready for walking."""
    return make_node(legacy_schema(kind))


def legacy_schema(kind: LegacyKind) -> Schema:
    """Return the schema of a whole kind, in the version that it is of."""
    return _whole(kind, _MPI_BY_SSH if kind.uses_ssh else _EXTRAS[kind.name])


def crd_schema(kind: LegacyKind) -> Schema:
    """Return the schema for every version of a kind: an object is stored once and read in each of them."""
    extras = _EXTRAS[kind.name]
    return _whole(kind, {**extras, **_MPI_BY_SSH} if kind.name == MPI_BY_SSH.name else extras)


def _whole(kind: LegacyKind, extras: Schema) -> Schema:
    roles: Schema = {"type": "object", "additionalProperties": _role()}
    spec = _object(**{"runPolicy": _run_policy(), kind.field: roles, **extras})
    spec["required"] = [kind.field]
    whole = _object(apiVersion=TEXT, kind=TEXT, metadata={"type": "object"}, spec=spec)
    whole["properties"]["status"] = {"type": "object", **OPEN}
    return whole


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _role() -> Schema:
    return _object(replicas=NUMBER, restartPolicy=TEXT, template=kube_schema("PodTemplate"))


def _run_policy() -> Schema:
    rule = {"rule": IMMUTABLE.cel, "message": "spec.runPolicy.schedulingPolicy.queue is immutable"}
    scheduling = _object(
        minAvailable=NUMBER,
        minResources={"type": "object", "additionalProperties": dict(INT_OR_STRING)},
        priorityClass=TEXT,
        queue={**TEXT, "x-kubernetes-validations": [rule]},
        scheduleTimeoutSeconds=NUMBER,
    )
    return _object(
        activeDeadlineSeconds=LONG,
        backoffLimit=NUMBER,
        cleanPodPolicy=TEXT,
        managedBy=TEXT,
        schedulingPolicy=scheduling,
        suspend={**FLAG, "default": False},
        ttlSecondsAfterFinished=NUMBER,
    )


_ELASTIC = {"minReplicas": NUMBER, "maxReplicas": NUMBER, "maxRestarts": NUMBER, "metrics": METRICS}
_EXTRAS: dict[str, Schema] = {
    "TFJob": {"successPolicy": TEXT, "enableDynamicWorker": FLAG},
    "PyTorchJob": {
        "nprocPerNode": TEXT,
        "elasticPolicy": _object(
            **_ELASTIC,
            nProcPerNode=NUMBER,
            rdzvBackend=TEXT,
            rdzvConf={"type": "array", "items": _object(key=TEXT, value=TEXT)},
            rdzvHost=TEXT,
            rdzvId=TEXT,
            rdzvPort=NUMBER,
            standalone=FLAG,
        ),
    },
    "MPIJob": {"slotsPerWorker": NUMBER, "mainContainer": TEXT, "cleanPodPolicy": TEXT},
    "XGBoostJob": {},
    "PaddleJob": {"elasticPolicy": _object(**_ELASTIC)},
    "JAXJob": {},
    "MXJob": {"jobMode": TEXT},
}
"""fields of the spec that only one kind has"""
_MPI_BY_SSH: Schema = {
    "slotsPerWorker": NUMBER,
    "runLauncherAsWorker": FLAG,
    "sshAuthMountPath": TEXT,
    "launcherCreationPolicy": {**TEXT, "enum": ["AtStartup", "WaitForWorkersReady"]},
    "mpiImplementation": {**TEXT, "enum": ["OpenMPI", "Intel", "MPICH"]},
}
"""those of an MPIJob of v2beta1; its defaults are no part of the schema, as v1 has others"""
