"""Under which jobs a runtime's, a ConfigMap's or an event's news is found.

Each function gives the values that an informer files an object under.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..api.names import CLUSTER_TRAINING_RUNTIME, TRAIN_JOB, TRAINING_RUNTIME
from ..kube.cache import Cached, Json
from ..render.render import OWN_LABEL
from .refusals import Refusal, refusal


def runtime_of(cached: Cached, job: Json) -> Iterable[str]:
    """The runtime that a job names."""
    reference = (job.get("spec") or {}).get("runtimeRef") or {}
    kind = reference.get("kind", CLUSTER_TRAINING_RUNTIME)
    namespace = cached.head.namespace if kind == TRAINING_RUNTIME else ""
    return ("/".join((kind, namespace, reference.get("name", ""))),)


def job_of_label(cached: Cached, document: Json) -> Iterable[str]:
    """The job that an object of ours was made for."""
    return (f"{cached.head.namespace}/{document['metadata']['labels'][OWN_LABEL]}",)


def job_of_owner(cached: Cached, document: Json) -> Iterable[str]:
    """The job that owns an object of somebody else."""
    head = cached.head
    return (f"{head.namespace}/{head.owner_name}",) if head.owner_kind == TRAIN_JOB else ()


def jobs_of_event(cached: Cached, document: Json) -> Iterable[str]:
    """The jobs that an event may be about."""
    return [f"{cached.head.namespace}/{name}" for name in names_in(refusal(document))]


def names_in(told: object) -> Iterator[str]:
    """What the JobSet may be called that an event is about; a Job has its JobSet's name in front."""
    if not isinstance(told, Refusal):
        return
    name = told.name
    while name:
        yield name
        name = name.rpartition("-")[0] if told.kind == "Job" else ""
