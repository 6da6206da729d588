"""A job that wants a dataset or a model needs a runtime that can fetch it.

Upstream looks for jobs, containers and a volume by fixed names. By default the job may be known by its label
too, and what is fetched must reach the trainer in some way: on a volume of any name that both mount, or
through a cache that needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...api.names import DATASET_STEP, INITIALIZER_VOLUME, MODEL_STEP, TRAINER_STEP
from ...errors import FieldError
from ..framework import Proposal
from ..merged import merged_jobs
from ..overlay import Object
from ..pods import pod_spec
from ..steps import steps

if TYPE_CHECKING:
    from ...api.trainjob import InitializerSource

_PATH = "spec.runtimeRef"
_INPUTS = {DATASET_STEP: "datasetConfig", MODEL_STEP: "modelConfig"}
_CACHE = "cache://"


def check(proposal: Proposal) -> Iterator[FieldError]:
    """Check that the runtime can fetch what the job wants fetched."""
    wanted = proposal.job.spec.initializer
    if wanted is None:
        return
    jobs = merged_jobs(proposal)
    for step, source in ((DATASET_STEP, wanted.dataset), (MODEL_STEP, wanted.model)):
        if source is not None:
            yield from _check_step(step, source, jobs, upstream=proposal.upstream)


def _check_step(
    step: str, source: InitializerSource, jobs: Sequence[Object], *, upstream: bool
) -> Iterator[FieldError]:
    job = _job_of(step, jobs, upstream=upstream)
    if job is None:
        text = f"must have {step} job when trainJob is configured with input {_INPUTS[step]}"
        yield FieldError(_PATH, text)
    elif not any(each["name"] == step for each in _all_containers(job)):
        yield FieldError(_PATH, f"must have container with name - {step} in the {step} job")
    elif not _reaches_the_trainer(step, source, job, jobs, upstream=upstream):
        yield FieldError(
            _PATH,
            f"must have volumeMount with name - {INITIALIZER_VOLUME} in container {step} of the {step} job",
        )


def _job_of(step: str, jobs: Sequence[Object], *, upstream: bool) -> Object | None:
    known = [job["name"] for job in jobs] if upstream else steps(jobs, mpi=False, upstream=False)
    return next((job for job, each in zip(jobs, known, strict=True) if each == step), None)


def _all_containers(job: Object) -> list[Object]:
    pod = pod_spec(job)
    return [*(pod.get("initContainers") or ()), *(pod.get("containers") or ())]


def _reaches_the_trainer(
    step: str, source: InitializerSource, job: Object, jobs: Sequence[Object], *, upstream: bool
) -> bool:
    mounts = {
        mount["name"]
        for each in pod_spec(job).get("containers") or ()
        if each["name"] == step
        for mount in each.get("volumeMounts") or ()
    }
    if INITIALIZER_VOLUME in mounts or upstream:
        return INITIALIZER_VOLUME in mounts
    return (source.storageUri or "").startswith(_CACHE) or not mounts.isdisjoint(_trainer_mounts(jobs))


def _trainer_mounts(jobs: Sequence[Object]) -> set[str]:
    trainers = (
        job
        for job, step in zip(jobs, steps(jobs, mpi=False, upstream=False), strict=True)
        if step == TRAINER_STEP
    )
    return {
        mount["name"]
        for job in trainers
        for each in _all_containers(job)
        for mount in each.get("volumeMounts") or ()
    }
