"""From the lengths of all rows to the few numbers and the histogram that a person reads."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from .result import Bin, Lengths

BINS = 24
STEPS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80)


def measure_lengths(
    lengths: Sequence[array[int]], *, unit: Literal["tokens", "characters"], limit: int | None, over: int
) -> Lengths | None:
    """The numbers for the rows of all splits; None when there are no rows."""
    ordered = sorted(length for split in lengths for length in split)
    if not ordered:
        return None
    last = len(ordered) - 1
    return Lengths(
        unit=unit,
        rows=len(ordered),
        least=ordered[0],
        median=ordered[last // 2],
        p95=ordered[int(last * 0.95)],
        p99=ordered[int(last * 0.99)],
        most=ordered[-1],
        total=sum(ordered),
        limit=limit,
        over=over,
        bins=_bins(ordered),
    )


def _bins(ordered: list[int]) -> list[Bin]:
    """Equal steps up to the longest of all but the last thousandth; what is longer lies in the last."""
    high = ordered[int((len(ordered) - 1) * 0.999)] + 1
    step = _step(high)
    edges = [*range(0, high + step, step)]
    edges[-1] = max(edges[-1], ordered[-1] + 1)
    found, at = [], 0
    for low, top in pairwise(edges):
        before = at
        while at < len(ordered) and ordered[at] < top:
            at += 1
        found.append(Bin(low=low, high=top, rows=at - before))
    return found


def _step(high: int) -> int:
    """The smallest round width of which BINS reach that far."""
    power = 1
    while True:
        for step in STEPS:
            if step * power * BINS >= high:
                return step * power
        power *= 100
