"""How many nodes train: the job's number, else the runtime's, else one.

Every framework but MPI counts like this; MPI shares the number between launcher and nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework import Plugin, Runtime
from ..info import Info

if TYPE_CHECKING:
    from ..pods import Pods


class Plain(Plugin):
    """Counts the pods of the trainer."""

    name = "plain"

    def serves(self, runtime: Runtime) -> bool:
        """All but MPI."""
        policy = runtime.spec.mlPolicy
        return policy is None or policy.mpi is None

    def enforce_ml_policy(self, info: Info) -> None:
        """Give the trainer as many pods as the job asks for."""
        pods = info.trainer
        if pods is None:
            return
        wanted = info.job.spec.trainer.numNodes if info.job.spec.trainer is not None else None
        if wanted is not None and (not info.kueue or counted(info, pods)):
            pods.count = wanted
            info.decide("numNodes", wanted, "spec.trainer.numNodes of the job")
        else:
            info.decide("numNodes", pods.count, told_by(info))


def told_by(info: Info) -> str:
    """Who says how many nodes there are where the job does not."""
    policy = info.runtime.spec.mlPolicy
    if policy is None:
        return "parallelism of the template, else one"
    if policy.numNodes is None:
        return "neither the job nor its runtime names a number"
    return "mlPolicy.numNodes of the runtime"


def counted(info: Info, pods: Pods) -> bool:
    """Whether the job may set the number; Kueue knows only pods that upstream would count."""
    if info.upstream or pods.labelled:
        return True
    info.warn(
        f"spec.trainer.numNodes: not applied to {pods.name!r}, because Kueue counts its pods as Trainer 2.3 "
        "does: label the job's template as the trainer's in the runtime"
    )
    return False
