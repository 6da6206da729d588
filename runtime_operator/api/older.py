"""The shape of the overrides of Trainer 2.0 and 2.1, which runtime patches replaced.

They are read only to be rewritten (`modernise`), and described so that a misspelt field in them is refused
like any other. Their bounds are those of runtime patches.
"""

from __future__ import annotations

from typing import Annotated

from .base import Dict, Part
from .wire import ATOMIC, keyed, wire

TARGETS = wire("The jobs this is meant for.", maxItems=100, **ATOMIC)


class TargetJob(Part):
    """A job an override is meant for."""

    name: Annotated[str, wire("A job of the runtime.", minLength=1, maxLength=253)]


class ContainerOverride(Part):
    """What an override may change in a container."""

    name: Annotated[str, wire("A container of the runtime.", minLength=1, maxLength=253)]
    env: Annotated[
        list[Dict] | None, wire("Env to add or replace.", kube="EnvVar", maxItems=128, **keyed("name"))
    ] = None
    volumeMounts: Annotated[
        list[Dict] | None, wire("Mounts to add.", kube="VolumeMount", maxItems=128, **keyed("mountPath"))
    ] = None


class PodOverride(Part):
    """What both releases could change in a pod."""

    serviceAccountName: Annotated[str | None, wire("Account the pod runs as.", maxLength=253)] = None
    nodeSelector: Annotated[dict[str, str] | None, wire("Labels a node must have.", maxProperties=128)] = None
    tolerations: Annotated[
        list[Dict] | None, wire("Taints the pod bears.", kube="Toleration", maxItems=128, **ATOMIC)
    ] = None
    volumes: Annotated[
        list[Dict] | None, wire("Volumes to add.", kube="Volume", maxItems=128, **keyed("name"))
    ] = None
    initContainers: Annotated[
        list[ContainerOverride] | None, wire("Init containers to change.", maxItems=64, **keyed("name"))
    ] = None
    containers: Annotated[
        list[ContainerOverride] | None, wire("Containers to change.", maxItems=64, **keyed("name"))
    ] = None
    schedulingGates: Annotated[
        list[Dict] | None,
        wire("Gates that hold the pod back.", kube="PodSchedulingGate", maxItems=16, **keyed("name")),
    ] = None


class PodSpecOverride(PodOverride):
    """`podSpecOverrides[]` of Trainer 2.0: the fields of a pod beside the jobs they are for."""

    targetJobs: Annotated[list[TargetJob], TARGETS]


class PodSpecOfTemplate(PodOverride):
    """What 2.1 could change beside that."""

    affinity: Annotated[Dict | None, wire("Where the pod wants to be.", kube="Affinity")] = None
    imagePullSecrets: Annotated[
        list[Dict] | None,
        wire("Secrets for the registry.", kube="LocalObjectReference", maxItems=64, **keyed("name")),
    ] = None


class PodTemplateOverride(Part):
    """`podTemplateOverrides[]` of Trainer 2.1."""

    targetJobs: Annotated[list[TargetJob], TARGETS]
    metadata: Annotated[Dict | None, wire("Labels and annotations of the pods.", kube="ObjectMeta")] = None
    spec: Annotated[PodSpecOfTemplate | None, wire("The pods.")] = None
