"""The ways we understand a document that upstream would misread, each with the word its warnings begin with.

A warning says where, what was understood, and how it is written today. One spelling, one warning: tests and
people can tell exactly which tolerances a document needed.
"""

from __future__ import annotations

from enum import Enum


class Tolerance(Enum):
    """Why a document is accepted although Trainer 2.3 writes it in another way."""

    OLD_VERSION = "DeprecatedVersion"
    """the version v2alpha1 of early texts"""
    COMMAND = "CommandSplit"
    """a whole command line in one string"""
    PROCESSES = "ProcessesInRuntime"
    """torch.numProcPerNode in a runtime"""
    ELASTIC = "ElasticPolicy"
    """torch.elasticPolicy in a runtime"""
    CONTAINER = "ContainerName"
    """a main container that is not called node"""
    TRAINER_JOB = "TrainerJobGuessed"
    """no ancestor label on the Job template of the trainer"""
    METADATA = "MetadataInSpec"
    """spec.labels and spec.annotations of a TrainJob"""
    OVERRIDES = "OldOverrides"
    """podSpecOverrides and podTemplateOverrides"""
    LIMITS = "LimitsFromRequests"
    """an extended resource that is requested and not limited"""
    MASTER = "StaleMasterAddress"
    """MASTER_ADDR of another job in the runtime"""
    ENVIRONMENT = "EnvReplaced"
    """an env of the framework that the runtime sets as well"""
    LAUNCHER = "LauncherMoved"
    """an MPI runtime without a template, or with its launcher before the nodes"""


def notice(tolerance: Tolerance, path: str, text: str) -> str:
    """Return the warning that this was understood; `text` says what, the value, and what to write."""
    return f"{tolerance.value}: {path}: {text}" if path else f"{tolerance.value}: {text}"
