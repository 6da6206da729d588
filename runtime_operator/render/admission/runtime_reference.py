"""Which runtime a TrainJob is judged on: the one it names, or the snapshot of it that the job runs with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...api.names import (
    CLUSTER_TRAINING_RUNTIME,
    DEPRECATED,
    DEPRECATION_URL,
    GROUP,
    SUPPORT_LABEL,
    TRAINING_RUNTIME,
)
from ...errors import FieldError, SpecError
from ..facts import Facts
from ..snapshot import SUFFIX, runtime_of

if TYPE_CHECKING:
    from ...api.runtime import ClusterTrainingRuntime, TrainingRuntime
    from ...api.trainjob import TrainJob

    Runtime = TrainingRuntime | ClusterTrainingRuntime

_FIELD = {TRAINING_RUNTIME: "spec.runtimeRef", CLUSTER_TRAINING_RUNTIME: "spec.RuntimeRef"}
"""the second is upstream's spelling, and clients may look for it"""
_CALLED = {TRAINING_RUNTIME: "trainingRuntime", CLUSTER_TRAINING_RUNTIME: "clusterTrainingRuntime"}


def find(
    job: TrainJob, runtime: Runtime | None, facts: Facts, *, old: TrainJob | None, upstream: bool
) -> Runtime | None:
    """Return the runtime to judge by; None for a job of old whose runtime is gone; SpecError otherwise."""
    reference = job.spec.runtimeRef
    if reference.apiGroup != GROUP or reference.kind not in _FIELD:
        called = f"{reference.kind}.{reference.apiGroup}" if reference.apiGroup else reference.kind
        raise SpecError([FieldError("", f"unsupported runtime: {called}")])
    if not upstream and old is not None and ("ConfigMap", job.name + SUFFIX) in facts.existing:
        return runtime_of(job, runtime, facts)[0]
    if runtime is None and (upstream or old is None):
        plural = f"{reference.kind.lower()}s.{GROUP}"
        text = (
            f'{plural} "{reference.name}" not found: specified {_CALLED[reference.kind]} '
            "must be created before the TrainJob is created"
        )
        raise SpecError([FieldError(_FIELD[reference.kind], text)])
    return runtime


def gone(job: TrainJob) -> str:
    """Say that a job which exists goes on without its runtime."""
    reference = job.spec.runtimeRef
    return (
        f"spec.runtimeRef: {reference.kind} {reference.name!r} is not found and the job has no snapshot "
        "of it: what is built stays, nothing new can be built; create the runtime again"
    )


def warnings(runtime: Runtime) -> tuple[str, ...]:
    """Warn of a runtime that its administrators want to be rid of."""
    if runtime.kind != CLUSTER_TRAINING_RUNTIME or runtime.labels.get(SUPPORT_LABEL) != DEPRECATED:
        return ()
    return (
        f'Referenced ClusterTrainingRuntime "{runtime.name}" is deprecated and will be removed in a future '
        f"release of Kubeflow Trainer. See runtime deprecation policy: {DEPRECATION_URL}",
    )
