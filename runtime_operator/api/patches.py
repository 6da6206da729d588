"""The shape of a runtime patch: what controllers and people may change in the JobSet of one TrainJob.

Patches are merged as plain dicts, so these models are never parsed; they are what the CRD says about a patch:
which fields there are, how many items they hold and which of them stay as they were.
"""

from __future__ import annotations

from typing import Annotated

from .base import Dict, Part
from .wire import ATOMIC, IMMUTABLE, keyed, wire


class ContainerPatch(Part):
    """What a patch may change in a container of the runtime."""

    name: Annotated[str, wire("A container of the runtime.", minLength=1, maxLength=253)]
    env: Annotated[
        list[Dict] | None,
        wire(
            "Env to add or replace; not for node and initializers.",
            kube="EnvVar",
            maxItems=128,
            **keyed("name"),
        ),
    ] = None
    volumeMounts: Annotated[
        list[Dict] | None,
        wire(
            "Mounts to add or replace, told apart by their path.",
            kube="VolumeMount",
            maxItems=128,
            **keyed("name"),
            our=keyed("mountPath"),
        ),
    ] = None
    securityContext: Annotated[Dict | None, wire("Rights of the container.", kube="SecurityContext")] = None


class PodSpecPatch(Part):
    """What a patch may change in a pod."""

    serviceAccountName: Annotated[
        str | None, wire("Account the pod runs as.", maxLength=253, rules=(IMMUTABLE,))
    ] = None
    nodeSelector: Annotated[dict[str, str] | None, wire("Labels a node must have.")] = None
    affinity: Annotated[Dict | None, wire("Where the pod wants to be.", kube="Affinity")] = None
    tolerations: Annotated[
        list[Dict] | None,
        wire("Taints the pod bears; replaces the runtime's.", kube="Toleration", maxItems=128, **ATOMIC),
    ] = None
    volumes: Annotated[
        list[Dict] | None,
        wire("Volumes to add.", kube="Volume", maxItems=128, **keyed("name"), rules=(IMMUTABLE,)),
    ] = None
    initContainers: Annotated[
        list[ContainerPatch] | None,
        wire("Init containers to change.", maxItems=64, **keyed("name"), rules=(IMMUTABLE,)),
    ] = None
    containers: Annotated[
        list[ContainerPatch] | None,
        wire("Containers to change.", maxItems=64, **keyed("name"), rules=(IMMUTABLE,)),
    ] = None
    schedulingGates: Annotated[
        list[Dict] | None,
        wire("Gates that hold the pod back.", kube="PodSchedulingGate", maxItems=16, **keyed("name")),
    ] = None
    imagePullSecrets: Annotated[
        list[Dict] | None,
        wire(
            "Secrets for the registry.",
            kube="LocalObjectReference",
            maxItems=64,
            **keyed("name"),
            rules=(IMMUTABLE,),
        ),
    ] = None
    securityContext: Annotated[
        Dict | None, wire("Rights of the pod.", kube="PodSecurityContext", rules=(IMMUTABLE,))
    ] = None
    terminationGracePeriodSeconds: Annotated[
        int | None, wire("Seconds between TERM and KILL.", format="int64", minimum=0, rules=(IMMUTABLE,))
    ] = None


class PodTemplatePatch(Part):
    """What a patch may change in a pod template."""

    metadata: Annotated[Dict | None, wire("Labels and annotations of the pods.", kube="ObjectMeta")] = None
    spec: Annotated[PodSpecPatch | None, wire("The pods.")] = None


class JobSpecPatch(Part):
    """What a patch may change in a Job."""

    template: Annotated[PodTemplatePatch | None, wire("The pod template.")] = None


class JobTemplatePatch(Part):
    """What a patch may change in a Job template."""

    metadata: Annotated[Dict | None, wire("Labels and annotations of the Job.", kube="ObjectMeta")] = None
    spec: Annotated[JobSpecPatch | None, wire("The Job.")] = None


class ReplicatedJobPatch(Part):
    """What a patch may change in one job of the JobSet."""

    name: Annotated[str, wire("A job of the runtime.", minLength=1, maxLength=253)]
    template: Annotated[JobTemplatePatch | None, wire("The Job template.")] = None


class JobSetSpecPatch(Part):
    """What a patch may change in the JobSet."""

    replicatedJobs: Annotated[
        list[ReplicatedJobPatch] | None, wire("Jobs to change.", maxItems=100, **keyed("name"))
    ] = None


class JobSetTemplatePatch(Part):
    """What a patch may change in the JobSet and its metadata."""

    metadata: Annotated[Dict | None, wire("Labels and annotations of the JobSet.", kube="ObjectMeta")] = None
    spec: Annotated[JobSetSpecPatch | None, wire("The JobSet.")] = None


class RuntimeSpecPatch(Part):
    """What a patch may change in the runtime."""

    template: Annotated[JobSetTemplatePatch | None, wire("The JobSet template.")] = None
