"""What is remembered of a job between two passes. All of it may be forgotten: then a pass looks again."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..render.plan import Object


@dataclass(slots=True)
class Memory:
    """One job, told from its namesakes by its uid."""

    uid: str
    applied: dict[tuple[str, str], tuple[bytes, str]] = field(default_factory=dict)
    """by kind and name: a hash of what was applied, and the version that came of it"""
    secrets: set[str] = field(default_factory=set)
    """Secrets that are known to be made"""
    deleted: dict[str, float] = field(default_factory=dict)
    """by uid: when the API server took our deletion"""
    from_trainer: dict[tuple[str, str], Object | None] = field(default_factory=dict)
    """by kind and name: what was found, or not, that has no label of ours"""
    looked_for_traces: bool = False
    differs_since: float | None = None
    """since when the status that is stored is not the one that should be"""
    written_at: float = float("-inf")
    trouble: str | None = None
    """what keeps its pods from running, as the last pass saw it"""
    waited_for_cause: bool = False
    words: dict[str, str] = field(default_factory=dict)
    """by pod and container: its last words"""
    labelled: set[str] = field(default_factory=set)
    """pods of a job of an older kind, by uid, on which their labels were written"""
    begun_at: float | None = None
    """when a job of an older kind got its JobSet, until the rest of it is made"""
    told: dict[str, str] = field(default_factory=dict)
    """by reason: the last event"""
