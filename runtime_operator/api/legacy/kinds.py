"""The seven older kinds in a table: what differs between them in names, roles and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .names import API_VERSION, MANAGERS
from .versions import MPI, MPI_MANAGER, SSH_VERSION, written_as


@dataclass(frozen=True, slots=True)
class LegacyKind:
    """What one kind calls its parts."""

    name: str
    """as in `kind:` of a document"""
    field: str
    """where its roles stand in the spec"""
    roles: tuple[str, ...]
    """in the order in which their pods are listed; the one that leads comes first"""
    container: str
    """the container that the framework runs in"""
    port_name: str
    """empty where nobody connects to a port of the framework"""
    port: int
    restart_policy: str
    """of a role that names none"""
    scales: bool = False
    """whether the workers have a scale subresource"""
    folds_roles: bool = True
    """whether `WORKER` means `Worker`"""
    selects: bool = False
    """whether the status names a selector of each role's pods"""
    api_version: str = API_VERSION
    """the version that a job of it was written as"""

    @property
    def operator(self) -> str:
        """The value of the label operator-name."""
        return "mpi-operator" if self.uses_ssh else f"{self.name.lower()}-controller"

    @property
    def uses_ssh(self) -> bool:
        """Whether it is an MPIJob as the MPI Operator had it, whose launcher reaches its workers by ssh."""
        return self.api_version == SSH_VERSION

    @property
    def uses_kubectl(self) -> bool:
        """Whether it is the Training Operator's MPIJob, whose launcher reaches its workers by kubectl."""
        return self.name == MPI and not self.uses_ssh

    @property
    def plural(self) -> str:
        """The name in paths of the API."""
        return f"{self.name.lower()}s"


_KINDS = (
    LegacyKind(
        "TFJob",
        "tfReplicaSpecs",
        ("Chief", "Master", "PS", "Worker", "Evaluator"),
        "tensorflow",
        "tfjob-port",
        2222,
        "Never",
    ),
    LegacyKind(
        "PyTorchJob",
        "pytorchReplicaSpecs",
        ("Master", "Worker"),
        "pytorch",
        "pytorchjob-port",
        23456,
        "OnFailure",
        scales=True,
        selects=True,
    ),
    LegacyKind(
        "MPIJob", "mpiReplicaSpecs", ("Launcher", "Worker"), "mpi", "", 9999, "Never", folds_roles=False
    ),
    LegacyKind(
        "XGBoostJob", "xgbReplicaSpecs", ("Master", "Worker"), "xgboost", "xgboostjob-port", 9999, "Never"
    ),
    LegacyKind(
        "PaddleJob",
        "paddleReplicaSpecs",
        ("Master", "Worker"),
        "paddle",
        "master",
        36543,
        "OnFailure",
        scales=True,
        selects=True,
    ),
    LegacyKind(
        "JAXJob",
        "jaxReplicaSpecs",
        ("Worker",),
        "jax",
        "jaxjob-port",
        6666,
        "Never",
        scales=True,
        selects=True,
    ),
    LegacyKind(
        "MXJob",
        "mxReplicaSpecs",
        ("Scheduler", "Server", "Worker", "TunerTracker", "TunerServer", "Tuner"),
        "mxnet",
        "mxjob-port",
        9091,
        "Never",
    ),
)
LEGACY_KINDS: Mapping[str, LegacyKind] = {each.name: each for each in _KINDS}
"""By the name of the kind, as they are in v1."""
MPI_BY_SSH = replace(LEGACY_KINDS[MPI], api_version=SSH_VERSION)
"""an MPIJob of v2beta1"""


def kind_of(document: Mapping[str, Any]) -> LegacyKind | None:
    """Return the older kind of a document, if it is of one, as the version has it that it was written as."""
    kind = document.get("kind")
    if kind == MPI and written_as(document) == SSH_VERSION:
        return MPI_BY_SSH
    return LEGACY_KINDS.get(kind) if isinstance(kind, str) else None


def managers_of(kind: LegacyKind) -> tuple[str, ...]:
    """Return what may stand in runPolicy.managedBy of a kind; with the first of them a job is ours."""
    return (MPI_MANAGER, *MANAGERS[1:]) if kind.uses_ssh else MANAGERS
