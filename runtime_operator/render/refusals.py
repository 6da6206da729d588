"""Jobs that cannot become anything sensible, however their runtime is read.

Upstream builds them all the same: an empty JobSet, a trainer whose settings nobody gets, two trainers of
which only one knows the other. Each is refused with the field that has to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..api.names import ANCESTOR_LABEL, DATASET_STEP, MODEL_STEP, TRAINER_STEP
from ..api.paths import JOBS
from ..errors import FieldError, SpecError

if TYPE_CHECKING:
    from .info import Info
    from .pods import Pods


def check_pods(info: Info) -> None:
    """Refuse a runtime without jobs, a trainer that is not there, and more than one of them."""
    trainers = info.trainers
    if len(trainers) == 1 or (not trainers and info.pods and info.job.spec.trainer is None):
        return
    runtime = f"{info.runtime.kind} {info.runtime.name!r}"
    if not info.pods:
        detail = f"{runtime} has no jobs: give it {JOBS}"
    elif len(trainers) > 1:
        names = ", ".join(each.name for each in trainers)
        label = f"{ANCESTOR_LABEL}: {TRAINER_STEP}"
        detail = f"{runtime} has more than one trainer, got {names}: label one job {label}"
    else:
        names = ", ".join(each.name for each in info.pods)
        detail = (
            f"nobody can tell which job of {runtime} is the trainer, got {names}: "
            f"label its template {ANCESTOR_LABEL}: {TRAINER_STEP}, or leave spec.trainer out"
        )
    raise SpecError([FieldError("spec.runtimeRef", detail)])


def check_images(info: Info) -> None:
    """Refuse containers without an image, which no API server would create."""
    for pods in info.pods:
        if pods.doubtful:
            errors = list(_without_image(info.pods))
            if errors:
                raise SpecError(errors)


def _without_image(pod_sets: Sequence[Pods]) -> Iterator[FieldError]:
    for pods in pod_sets:
        trains = pods.step not in (DATASET_STEP, MODEL_STEP)
        for each in (*pods.containers, *pods.init_containers):
            if not each.get("image"):
                where = "spec.trainer.image" if each is pods.main and trains else "spec.runtimeRef"
                detail = f"container {each.name!r} of job {pods.name!r} has no image: name one"
                yield FieldError(where, detail)
