"""The seven older kinds in a table: what differs between them in names, roles and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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

    @property
    def operator(self) -> str:
        """The value of the label operator-name."""
        return f"{self.name.lower()}-controller"

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
"""By the name of the kind."""


def kind_of(document: Mapping[str, Any]) -> LegacyKind | None:
    """Return the older kind of a document, if it is of one."""
    kind = document.get("kind")
    return LEGACY_KINDS.get(kind) if isinstance(kind, str) else None
