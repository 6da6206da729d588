"""What a step knows of its job once that has ended well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Launched:
    """A TrainJob that is complete."""

    name: str
    namespace: str
    message: str
    """what its Complete condition says"""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """the last numbers that its trainer reported, by name"""
    times: Mapping[str, float] = field(default_factory=dict)
    """seconds it spent `waiting` and `running`, where they are known"""
