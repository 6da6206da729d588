"""What admission says of a runtime beyond its schema: jobs of known steps, and the habits we tolerate.

Trainer refuses a job of a known step that has replicas, or lacks the container of that step, when a runtime
is created; an update of a TrainingRuntime slips past it. Here every update is held to the same rules, a
main container of an older name is understood, and each older habit is said once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import FieldError, SpecError
from .check import Checked
from .legacy_names import launcher_container, launcher_job, trainer_container
from .names import (
    ANCESTOR_LABEL,
    CLUSTER_TRAINING_RUNTIME,
    DEPRECATED,
    DEPRECATION_URL,
    DISABLED,
    NODE,
    SKIP_VALIDATION_LABEL,
    STEPS,
    SUPPORT_LABEL,
    TRAINER_STEP,
    TRAINING_RUNTIME,
)
from .paths import JOBS, REQUIRED, invalid
from .runtime_notices import runtime_notices
from .shapes import at, items, named
from .wire import Compat


def check_runtime(
    document: Mapping[str, Any], *, old: Mapping[str, Any] | None = None, compat: Compat = None
) -> Checked:
    """Return what admission says of a stored runtime, or of its update; its schema is for `check`."""
    labels = at(document, "metadata", "labels")
    unseen = compat and old is not None and document.get("kind") == TRAINING_RUNTIME
    if unseen or labels.get(SKIP_VALIDATION_LABEL) == DISABLED:
        return Checked((), (), (), dict(document))
    owner = f"{document.get('kind')}/{at(document, 'metadata').get('name', '')}"
    errors = [
        FieldError(error.field, error.detail, error.type, owner) for error in _job_errors(document, compat)
    ]
    warnings = [] if old is not None else list(deprecation(document))
    if not compat and not errors:
        warnings += runtime_notices(document)
    return Checked(tuple(errors), tuple(warnings), (), dict(document))


def deprecation(document: Mapping[str, Any], *, prefix: str = "") -> Iterator[str]:
    """Yield upstream's warning about a ClusterTrainingRuntime that will go away."""
    metadata = at(document, "metadata")
    deprecated = at(metadata, "labels").get(SUPPORT_LABEL) == DEPRECATED
    if deprecated and document.get("kind") == CLUSTER_TRAINING_RUNTIME:
        yield (
            f'{prefix}{CLUSTER_TRAINING_RUNTIME} "{metadata.get("name", "")}" is deprecated and will be '
            "removed in a future release of Kubeflow Trainer. "
            f"See runtime deprecation policy: {DEPRECATION_URL}"
        )


def _job_errors(document: Mapping[str, Any], compat: Compat) -> Iterator[FieldError]:
    jobs = items(at(document, "spec", "template", "spec").get("replicatedJobs"))
    mpi = "mpi" in at(document, "spec", "mlPolicy")
    if not jobs and not compat and not mpi:
        detail = "a runtime needs at least one job, got none: add the job that trains"
        yield FieldError(JOBS, detail, REQUIRED)
    for index, job in enumerate(jobs):
        step = at(job, "template", "metadata", "labels").get(ANCESTOR_LABEL)
        if step not in STEPS:
            continue
        path = f"{JOBS}[{index}]"
        if job.get("replicas", 1) != 1:
            yield invalid(f"{path}.replicas", "always must be 1")
        pod, where = at(job, "template", "spec", "template", "spec"), f"{path}.template.spec.template.spec"
        if step == TRAINER_STEP and not compat:
            launches = mpi and launcher_job(jobs) == index
            yield from _main_container(pod, where, launches=launches)
        elif named(pod.get("containers"), NODE if step == TRAINER_STEP else str(step)) is None:
            yield _missing(where, str(step))


def _main_container(pod: Mapping[str, Any], path: str, *, launches: bool) -> Iterator[FieldError]:
    find = launcher_container if launches else trainer_container
    try:
        if find(pod, path=path).index is None:
            yield _missing(path, TRAINER_STEP)
    except SpecError as unclear:
        yield from unclear.errors


def _missing(path: str, step: str) -> FieldError:
    return invalid(f"{path}.containers", f"must contain the required container for the ancestor: {step}")
