"""How one installation of the operator works: where it looks, and what it tells trainers of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..render.facts import NO_FACTS, Facts
from ..render.legacy import Installation


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """What an administrator decides."""

    namespace: str = ""
    """the only namespace that is served; empty for all"""
    workers: int = 64
    """jobs that are worked on at the same time: they hide the latency of writes"""
    resync_every: float = 270.0
    """seconds, a tenth more or less, after which every collection is listed again: within five minutes"""
    look_for_kinds_every: float = 30.0
    """seconds between two looks for the kinds of schedulers that are not installed yet"""
    judges: bool = False
    """whether jobs are judged before they are built, for no webhook did so when they were created"""
    facts: Facts = field(default=NO_FACTS)
    """feature gates, the cluster's domain, where the operator is reached: the same for all jobs"""
    older_kinds: frozenset[str] = frozenset()
    """the kinds of kubeflow.org/v1 that are served; one that is not costs nothing"""
    installation: Installation = field(default=Installation())
    """what is decided for all jobs of the older kinds"""
