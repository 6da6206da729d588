"""JobSets that JobSet admits and that can never run well.

A finished Job that deletes itself is made again without end; a gang waits for pods that exclusive topology
creates only once the first one runs; a job that waits for itself never starts; and a Job that the API server
refuses is never made, which only an event tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..api.paths import FORBIDDEN
from ..errors import FieldError
from .pods import is_in_gang, pod_spec

Object = Mapping[str, Any]
Rule = Iterator[FieldError]

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
EXCLUSIVE_BY_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"


def check(jobset: Object) -> Rule:
    """Find what is admitted and then never runs well."""
    exclusive = jobset["metadata"].get("annotations") or {}
    for index, job in enumerate((jobset.get("spec") or {}).get("replicatedJobs") or []):
        path = f"spec.replicatedJobs[{index}]"
        yield from _waiting(job, path)
        yield from _job(job, f"{path}.template.spec")
        yield from _topology(job, exclusive, path)


def _waiting(job: Object, path: str) -> Rule:
    if any(needed["name"] == job["name"] for needed in job.get("dependsOn") or ()):
        yield FieldError(f"{path}.dependsOn", "must not name the job itself: it would never start")


def _job(job: Object, path: str) -> Rule:
    spec = (job.get("template") or {}).get("spec") or {}
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield FieldError(
            f"{path}.ttlSecondsAfterFinished",
            "must not be set: JobSet would see the finished Job missing and run it again; "
            "set ttlSecondsAfterFinished of the TrainJob or of the JobSet",
            FORBIDDEN,
        )
    restart = pod_spec(job).get("restartPolicy") or "OnFailure"
    if restart == "Always":
        text = "must be OnFailure or Never, got Always: a Job ends with its pods"
        yield FieldError(f"{path}.template.spec.restartPolicy", text)
    if spec.get("podFailurePolicy") is not None and restart != "Never":
        text = f"needs restartPolicy Never, got {restart}: set restartPolicy of the pod template"
        yield FieldError(f"{path}.podFailurePolicy", text)


def _topology(job: Object, of_the_jobset: Object, path: str) -> Rule:
    template = job.get("template") or {}
    annotations = {**of_the_jobset, **((template.get("metadata") or {}).get("annotations") or {})}
    if EXCLUSIVE in annotations and EXCLUSIVE_BY_SELECTOR not in annotations and _is_gang(job):
        yield FieldError(
            f"{path}.template.metadata.annotations[{EXCLUSIVE}]",
            "must not be used with a gang: the gang waits for pods that exclusive topology creates only "
            f"once the first one runs; remove it, or add {EXCLUSIVE_BY_SELECTOR} and label the nodes",
            FORBIDDEN,
        )


def _is_gang(job: Object) -> bool:
    spec = job["template"]["spec"]
    return is_in_gang(job) and (spec.get("parallelism") or 1) * job.get("replicas", 1) > 1
