"""What an installation decides for all jobs of the older kinds, as flags of the Training Operator did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VOLCANO = "volcano"


@dataclass(frozen=True, slots=True)
class Installation:
    """The settings, with the defaults of v1."""

    judge: Literal["operator", "jobset"] = "operator"
    """who says that a job has ended: our controller, by v1's rules, or the JobSet alone where none runs"""
    one_machine: bool = False
    """whether all pods share the ports of one machine, so that each server of TensorFlow needs its own"""
    gang_scheduler: str = ""
    """empty: none; `volcano`; any other is a scheduler with the scheduler-plugins, by its name"""
    custom_domain: str = ""
    """what the cluster's domain is called in TF_CONFIG; empty: it is left out"""
    init_image: str = "alpine:3.10"
    init_tries: int = 100
    """how often a worker of a PyTorchJob looks its master up before it starts; 0: not at all"""
    kubectl_image: str = "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest"
    """delivers kubectl to MPI launchers of v1: copies it to the folder that TARGET_DIR names"""

    @property
    def is_volcano(self) -> bool:
        """Whether Volcano places the gangs."""
        return self.gang_scheduler.lower() == VOLCANO

    @property
    def scheduler_name(self) -> str:
        """The scheduler of the pods of a gang."""
        return VOLCANO if self.is_volcano else self.gang_scheduler
