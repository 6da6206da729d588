"""The older kinds of kubeflow.org/v1: what they may say, and what they mean with their defaults filled in."""

from .check import check_legacy
from .crds import legacy_crd_files, legacy_crds
from .job import LegacyJob, Role, RunPolicy, Scheduling, is_legacy, read_legacy
from .kinds import LEGACY_KINDS, LegacyKind, kind_of
from .terms import terms, without_rest

__all__ = [
    "LEGACY_KINDS",
    "LegacyJob",
    "LegacyKind",
    "Role",
    "RunPolicy",
    "Scheduling",
    "check_legacy",
    "is_legacy",
    "kind_of",
    "legacy_crd_files",
    "legacy_crds",
    "read_legacy",
    "terms",
    "without_rest",
]
