"""Where the time of a job went: until its pods were started, until all of them ran, and running."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..local.status import read_time


def times(
    created: float, status: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], *, now: float
) -> tuple[tuple[str, float], ...]:
    """The parts of a job's time in seconds, from its creation to its end or to now."""
    begun = min((read_time(each["startTime"]) for each in pods if each.get("startTime")), default=None)
    ran = read_time(status["startTime"]) if "startTime" in status else None
    end = read_time(status["completionTime"]) if "completionTime" in status else now
    return tuple(_parts(created, begun, ran, end))


def _parts(created: float, begun: float | None, ran: float | None, end: float) -> Iterator[tuple[str, float]]:
    if begun is None:
        yield "waiting", max(end - created, 0.0)
        return
    yield "waiting", max(begun - created, 0.0)
    if ran is None:
        yield "starting", max(end - begun, 0.0)
        return
    yield "starting", max(ran - begun, 0.0)
    yield "running", max(end - ran, 0.0)
