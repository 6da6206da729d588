"""What is asked of a fetch, and what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .manifest import Manifest
from .selection import Selection
from .source import Kind

_LEAST_CONNECTIONS, _MOST_CONNECTIONS = 8, 16


def usual_connections() -> int:
    """How many requests at once: two a processor; more would only take turns."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(2 * processors, _LEAST_CONNECTIONS), _MOST_CONNECTIONS)


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch, and where to."""

    kind: Kind
    uri: str = field(repr=False)
    target: Path
    selection: Selection
    connections: int = field(default_factory=usual_connections)
    every_byte: bool = False
    """hash a folder that is there already, instead of looking at sizes and times"""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a fetch."""

    folder: Path
    manifest: Manifest
    fetched: int
    """bytes that came from the source"""
    seconds: float
