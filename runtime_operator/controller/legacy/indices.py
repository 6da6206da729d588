"""Under which jobs of older kinds an object's news is found."""

from __future__ import annotations

from collections.abc import Iterable

from ...api.legacy import LEGACY_KINDS
from ...kube.cache import Cached, Json
from ...render.legacy.render import OWN_LABEL

OF_JOB = "older job"
"""namespace and name of the job; jobs of two kinds may have one name"""
OF_JOBSET = "older jobset"
"""the uid of the JobSet"""


def job_of_label(cached: Cached, document: Json) -> Iterable[str]:
    """The name of the job that an object of ours was made for."""
    return (f"{cached.head.namespace}/{document['metadata']['labels'][OWN_LABEL]}",)


def job_of_jobset(cached: Cached, document: Json) -> Iterable[str]:
    """The job of an older kind that owns a JobSet."""
    head = cached.head
    return (f"{head.namespace}/{head.owner_name}",) if head.owner_kind in LEGACY_KINDS else ()


def jobset_of_pod(cached: Cached, document: Json) -> Iterable[str]:
    """The JobSet of a pod of an older kind."""
    replica = cached.value.replica
    return () if replica is None else (replica.jobset_uid,)
