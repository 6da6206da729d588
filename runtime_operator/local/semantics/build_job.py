"""A Job of the JobSet from its template: labels, domain, claims, and batch/v1's own defaults.

The defaults that the API server gives a Job are filled in here, so that all rules read one complete spec.
"""

from __future__ import annotations

import copy
from typing import Any

from .labels import child_labels, has_hostnames, job_name, subdomain
from .model import Json, State

MAX_INT32 = 2**31 - 1


def build_job(state: State, replicated_job: Json, index: int) -> Json:
    """The manifest of one Job, as it is created."""
    template = replicated_job["template"]
    spec = copy.deepcopy(template.get("spec") or {})
    own = child_labels(state, replicated_job, index)
    pod_template = spec.setdefault("template", {})
    _mark(pod_template, own)
    pod_spec = pod_template.setdefault("spec", {})
    if has_hostnames(state):
        pod_spec["subdomain"] = subdomain(state)
    _add_claims(state, pod_spec)
    spec["suspend"] = state.suspended
    manifest: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(state.name, replicated_job["name"], index),
            "namespace": state.namespace,
        },
        "spec": complete_spec(spec),
    }
    for kind in ("labels", "annotations"):
        given = (template.get("metadata") or {}).get(kind) or {}
        manifest["metadata"][kind] = given | own
    return manifest


def complete_spec(spec: Json) -> Json:
    """A Job's spec with what the API server fills in."""
    filled: dict[str, Any] = dict(spec)
    if filled.get("parallelism") is None:
        if filled.get("completions") is None:
            filled["completions"] = 1
        filled["parallelism"] = 1
    if filled.get("backoffLimit") is None:
        filled["backoffLimit"] = 6 if filled.get("backoffLimitPerIndex") is None else MAX_INT32
    filled.setdefault("completionMode", "NonIndexed")
    filled.setdefault("suspend", False)
    if filled.get("podReplacementPolicy") is None:
        filled["podReplacementPolicy"] = "Failed" if filled.get("podFailurePolicy") else "TerminatingOrFailed"
    return filled


def _mark(thing: Json, own: dict[str, str]) -> None:
    metadata = thing["metadata"] = dict(thing.get("metadata") or {})
    for kind in ("labels", "annotations"):
        metadata[kind] = (metadata.get(kind) or {}) | own


def _add_claims(state: State, pod_spec: Json) -> None:
    """A volume for each claim of the JobSet that a container mounts by its name."""
    containers = [*(pod_spec.get("containers") or []), *(pod_spec.get("initContainers") or [])]
    mounted = {mount["name"] for each in containers for mount in each.get("volumeMounts") or []}
    for policy in state.spec.get("volumeClaimPolicies") or []:
        for claim in policy.get("templates") or []:
            name = claim["metadata"]["name"]
            if name in mounted:
                source = {"persistentVolumeClaim": {"claimName": f"{name}-{state.name}"}}
                pod_spec["volumes"] = [*(pod_spec.get("volumes") or []), {"name": name, **source}]
