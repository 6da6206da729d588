"""Kubernetes' own schemas, cut out of the real JobSet CRD: what an API server knows of pods.

The data file beside this module is made by `manifests/crds/make_kube_schema.py`. Everything our kinds embed
(env, volumes, affinity, a whole JobSet) stands somewhere in it; the table says where.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Schema = dict[str, Any]

JOB_TEMPLATE = "replicatedJobs[].template"
POD = f"{JOB_TEMPLATE}.spec.template.spec"
PLACES: Mapping[str, tuple[str, str]] = {
    "Affinity": ("JobSetSpec", f"{POD}.affinity"),
    "Condition": ("Condition", ""),
    "EnvVar": ("JobSetSpec", f"{POD}.containers[].env[]"),
    "JobSetSpec": ("JobSetSpec", ""),
    "LocalObjectReference": ("JobSetSpec", f"{POD}.imagePullSecrets[]"),
    "ObjectMeta": ("JobSetSpec", f"{JOB_TEMPLATE}.metadata"),
    "PodTemplate": ("JobSetSpec", f"{JOB_TEMPLATE}.spec.template"),
    "PodSchedulingGate": ("JobSetSpec", f"{POD}.schedulingGates[]"),
    "PodSecurityContext": ("JobSetSpec", f"{POD}.securityContext"),
    "ResourceRequirements": ("JobSetSpec", f"{POD}.containers[].resources"),
    "SecurityContext": ("JobSetSpec", f"{POD}.containers[].securityContext"),
    "Toleration": ("JobSetSpec", f"{POD}.tolerations[]"),
    "Volume": ("JobSetSpec", f"{POD}.volumes[]"),
    "VolumeMount": ("JobSetSpec", f"{POD}.containers[].volumeMounts[]"),
}
"""Where each schema stands in the data file."""


def kube_schema(name: str) -> Schema:
    """Return one of Kubernetes' schemas; shared, not to be changed."""
    root, path = PLACES[name]
    schema = _data()[root]
    for step in path.split(".") if path else ():
        key = step.removesuffix("[]")
        schema = schema["properties"][key]
        if key != step:
            schema = schema["items"]
    return schema


@cache
def _data() -> dict[str, Schema]:
    text = files(__package__).joinpath("kube_schema.json").read_text(encoding="utf-8")
    data: dict[str, Schema] = json.loads(text)
    return data
