"""Whether a job's GPUs fit on this machine, and how it is made smaller where a person allows that.

Pods of one wave exist at the same time, so a wave may ask for no more than there is. A smaller job keeps its
nodes as long as each gets a GPU; then it loses nodes; on a machine without GPUs it trains on the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..api.legacy import kind_of
from ..api.names import TRAIN_JOB, TRAINER_STEP
from ..errors import FieldError, SpecError
from ..render.plan import PodSet
from .gpus import SUFFIX
from .submission import Document, Submission, submit


@dataclass(frozen=True, slots=True)
class Size:
    """Nodes of the trainer, and GPUs of each."""

    nodes: int
    gpus: int
    resource: str = "nvidia.com/gpu"
    """what the GPUs are called"""

    def __str__(self) -> str:
        return f"{self.nodes} nodes " + (f"with {self.gpus} GPUs each" if self.gpus else "on the CPU")


def fit(
    documents: Sequence[Document], *, shipped: Sequence[Document], gpus: int, allow_fewer: bool
) -> Submission:
    """Prepare a job for a machine with so many GPUs; SpecError says why it does not fit."""
    submission = submit(documents, shipped=shipped)
    asked = _most_at_once(submission.plan.pod_sets)
    if asked <= gpus:
        return submission
    wanted = _size(submission.plan.pod_sets)
    older = kind_of(submission.train_job)
    may_shrink = wanted.gpus > 0 and older is None
    if not allow_fewer or not may_shrink:
        has = f"this machine has {gpus}" if gpus else "this machine has none"
        advice = "ask for less, or pass --allow-fewer" if may_shrink else "ask for less"
        detail = f"asks for {asked} GPUs at once and {has}; {advice}"
        path = "spec.trainer.resourcesPerNode" if older is None else f"spec.{older.field}"
        raise SpecError([FieldError(path, detail, "FieldValueForbidden")])
    size = smaller(wanted, gpus)
    fewer = submit([_resized(each, size) for each in documents], shipped=shipped)
    said = f"runs smaller here: {size} instead of {wanted}, since this machine has {gpus} GPUs"
    return replace(fewer, digest=submission.digest, warnings=(said, *fewer.warnings))


def smaller(wanted: Size, gpus: int) -> Size:
    """The largest size that fits: nodes first, then GPUs a node."""
    if gpus == 0:
        return replace(wanted, gpus=0)
    if gpus < wanted.nodes:
        return replace(wanted, nodes=gpus, gpus=1)
    return replace(wanted, gpus=min(wanted.gpus, gpus // wanted.nodes))


def _gpus_of(pods: PodSet) -> int:
    return sum(int(amount) for name, amount in pods.requests.items() if name.endswith(SUFFIX))


def _most_at_once(pod_sets: Sequence[PodSet]) -> int:
    waves: dict[int, int] = {}
    for pods in pod_sets:
        waves[pods.wave] = waves.get(pods.wave, 0) + pods.count * _gpus_of(pods)
    return max(waves.values(), default=0)


def _size(pod_sets: Sequence[PodSet]) -> Size:
    trainers = [pods for pods in pod_sets if pods.step == TRAINER_STEP]
    nodes, gpus = sum(pods.count for pods in trainers), max(map(_gpus_of, trainers), default=0)
    names = [name for pods in trainers for name in pods.requests if name.endswith(SUFFIX)]
    return Size(nodes, gpus, *names[:1])


def _resized(document: Document, size: Size) -> Document:
    """The TrainJob with another number of nodes, and of GPUs and processes on each."""
    if document.get("kind") != TRAIN_JOB:
        return document
    spec = document["spec"]
    trainer: dict[str, Any] = dict(spec.get("trainer") or {})
    trainer |= {"numNodes": size.nodes, "numProcPerNode": max(size.gpus, 1)}
    given: Mapping[str, Any] = trainer.get("resourcesPerNode") or {}
    resources = {part: _without_gpus(given.get(part) or {}) for part in ("limits", "requests")}
    for part in resources.values():
        part[size.resource] = str(size.gpus)
    trainer["resourcesPerNode"] = resources
    return {**document, "spec": {**spec, "trainer": trainer}}


def _without_gpus(amounts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: amount for name, amount in amounts.items() if not name.endswith(SUFFIX)}
