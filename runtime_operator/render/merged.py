"""The runtime as the job's patches leave it, for checks that run before anything is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .overlay import Object
from .strategic_merge import patched_metadata, patched_spec

if TYPE_CHECKING:
    from ..api.trainjob import TrainJob
    from .framework import Proposal


def patches_of(job: TrainJob) -> list[Object]:
    """Give the job's patches in the form that merging takes."""
    return [{"trainingRuntimeSpec": patch.trainingRuntimeSpec} for patch in job.spec.runtimePatches]


def merged_jobs(proposal: Proposal) -> Sequence[Object]:
    """List the replicated jobs with the job's patches merged in."""
    template = proposal.runtime.spec.template
    spec = (template and template.spec) or {}
    merged = patched_spec(spec, patches_of(proposal.job), upstream=proposal.upstream)
    jobs: Sequence[Object] = merged.get("replicatedJobs") or ()
    return jobs


def merged_annotations(proposal: Proposal) -> Mapping[str, str]:
    """Give the annotations of the JobSet."""
    template = proposal.runtime.spec.template
    metadata = template.metadata if template is not None else None
    return patched_metadata(metadata, patches_of(proposal.job))["annotations"]
