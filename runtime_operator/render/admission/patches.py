"""Who may patch what of a runtime, and when.

Patches change only while a job rests. Environment of the main containers is the job's own, set in its spec.
Upstream means to refuse patches of jobs and containers that the runtime lacks, but looks for them where the
patch is merged in already; by default they are refused, because such a job or container has no image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...api.names import DATASET_STEP, MODEL_STEP, NODE
from ...api.paths import FORBIDDEN, INVALID, REQUIRED
from ...errors import FieldError
from ..dns import domain_path_faults
from ..framework import Proposal
from ..overlay import Object
from ..pods import pod_spec
from ..prepared import prepare
from ..render import managed_by_kueue

if TYPE_CHECKING:
    from ...api.trainjob import RuntimePatch, TrainJob

_PATH = "spec.runtimePatches"
_OWN_ENV = (DATASET_STEP, MODEL_STEP, NODE)


def check(proposal: Proposal) -> Iterator[FieldError]:
    """Check the job's patches, and that they may change now."""
    if proposal.old is not None and contents(proposal.job) != contents(proposal.old):
        yield from _check_change(proposal, proposal.old)
    known = None if proposal.upstream else _known_jobs(proposal)
    for patch in proposal.job.spec.runtimePatches:
        for fault in domain_path_faults(patch.manager):
            yield FieldError(f"{_PATH}.manager", fault, INVALID if fault else REQUIRED)
        for job in _patched_jobs(patch):
            yield from _check_job(job, known)


def _known_jobs(proposal: Proposal) -> dict[str, Object]:
    """List the pods of the runtime by job, with what its plug-ins add to a template that says too little."""
    counts = managed_by_kueue(proposal.job)
    spec = prepare(proposal.runtime, upstream=False, counts=counts).spec
    return {job["name"]: pod_spec(job) for job in spec.get("replicatedJobs") or ()}


def contents(job: TrainJob) -> list[tuple[str, Any]]:
    """List what the patches say, without the time at which they said it."""
    return [(patch.manager, patch.trainingRuntimeSpec) for patch in job.spec.runtimePatches]


def _check_change(proposal: Proposal, old: TrainJob) -> Iterator[FieldError]:
    if not old.spec.suspend and not proposal.job.spec.suspend:
        yield FieldError(
            _PATH,
            "RuntimePatches can only be modified when the TrainJob is suspended before or after the update",
            FORBIDDEN,
        )
        return
    jobset = proposal.facts.existing.get(("JobSet", proposal.job.name)) or {}
    for status in (jobset.get("status") or {}).get("replicatedJobsStatus") or ():
        if (status.get("active") or 0) > 0:
            yield FieldError(
                _PATH,
                "RuntimePatches cannot be modified when the JobSet's ReplicatedJob "
                f"{status['name']} is still active",
                FORBIDDEN,
            )


def _patched_jobs(patch: RuntimePatch) -> list[Object]:
    template = (patch.trainingRuntimeSpec or {}).get("template") or {}
    return list((template.get("spec") or {}).get("replicatedJobs") or ())


def _check_job(job: Object, known: Mapping[str, Object] | None) -> Iterator[FieldError]:
    """Check one patched job; upstream knows every job, because its patch has made it."""
    name, pod = job["name"], pod_spec(job)
    if known is not None and name not in known:
        yield FieldError(_PATH, "must not have replicated job that doesn't exist in the runtime job template")
        return
    for field, kind in (("initContainers", "initContainer"), ("containers", "container")):
        there = None if known is None else {each["name"] for each in known[name].get(field) or ()}
        for container in pod.get(field) or ():
            if there is not None and container["name"] not in there:
                yield FieldError(_PATH, f"must not have {kind} that doesn't exist in the runtime job {name}")
            elif kind == "container" and container.get("env") and container["name"] in _OWN_ENV:
                yield FieldError(_PATH, f"must not have envs for the {', '.join(_OWN_ENV)} containers")
