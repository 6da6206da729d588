"""What JobSet counts of a job, and which of its replicated jobs do not run yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..render.plan import Object
from ..render.pods import is_in_gang

COUNTS = ("ready", "succeeded", "failed", "active", "suspended")


def counts(jobset: Object) -> tuple[Mapping[str, Any], ...]:
    """How many Jobs of each replicated job are in which state. Jobs, not pods: the SDK reads them so.

    In the order of the replicated jobs: JobSet's own changes from one time to the next.
    """
    order = {each["name"]: index for index, each in enumerate(replicated_jobs(jobset))}
    told = (jobset.get("status") or {}).get("replicatedJobsStatus") or ()
    return tuple(
        {"name": each["name"], **{count: each.get(count, 0) for count in COUNTS}}
        for each in sorted(told, key=lambda one: order.get(one["name"], len(order)))
    )


def not_running(jobset: Object, gang: Object | None) -> tuple[Object, ...]:
    """The replicated jobs whose pods neither all run nor have done their work.

    Of a gang as many must run as it asks for: an elastic job trains although its last pods wait for room.
    """
    seen = {each["name"]: each["ready"] + each["succeeded"] for each in counts(jobset)}
    late = (each for each in replicated_jobs(jobset) if seen.get(each["name"], -1) < each.get("replicas", 1))
    gang_runs = ((gang or {}).get("status") or {}).get("phase") == "Running"
    return tuple(each for each in late if not (gang_runs and is_in_gang(each)))


def replicated_jobs(jobset: Object) -> Sequence[Object]:
    """The replicated jobs of a JobSet."""
    return jobset.get("spec", {}).get("replicatedJobs") or ()
