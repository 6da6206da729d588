"""With what a pass over a TrainJob is made, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..errors import Retryable
from ..kube.errors import ApiError
from ..kube.transport import Transport
from ..render.plan import Object
from .caches import Caches
from .decisions import Recorder
from .metrics import Metrics
from .settings import ControllerSettings


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a reconciler works with."""

    transport: Transport
    caches: Caches
    settings: ControllerSettings
    metrics: Metrics
    recorder: Recorder
    certificate: Callable[[], Object | None]
    """the Secret of the operator's certificate, for jobs whose trainers report progress"""
    clock: Callable[[], float]
    """monotonic"""
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Pass:
    """What came of a pass."""

    again: float | None = None
    """in how many seconds the next one is due, whatever happens"""
    failed: ApiError | Retryable | None = None
    """why it has to be repeated"""
