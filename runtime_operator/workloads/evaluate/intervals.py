"""How sure a figure is: rows are drawn anew many times, and the middle of what comes out is its interval.

Base and tuned model are drawn with the same rows each time, since they answered the same questions: the
interval of their difference is much narrower than that of either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_NATS = 700.0  # a token; more would be no number
Array = Any  # numpy's, which is not imported before it is needed
Column = Sequence[tuple[float, ...]]
"""for each row of one model: a number, or nats and tokens"""
Figure = Callable[[Array], Array]
"""from the sums over the rows of each draw to a figure for each draw"""


@dataclass(frozen=True, slots=True)
class Draws:
    """How rows are drawn."""

    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and where it lies; what is no number lies nowhere."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure of all rows, and of the rows of each draw."""

    value: float
    values: Array

    def interval(self, confidence: float) -> Interval:
        """Where the figure lies."""
        import numpy

        if not numpy.isfinite(self.values).all():
            return Interval(self.value, None, None)
        outside = (1 - confidence) / 2
        low, high = (float(each) for each in numpy.quantile(self.values, [outside, 1 - outside]))
        return Interval(self.value, min(low, self.value), max(high, self.value))


def draw(column: Column, figure: Figure, how: Draws) -> Drawn:
    """A figure with its draws; columns of as many rows are drawn alike."""
    import numpy

    rows = len(column)
    numbers = numpy.asarray(column, dtype=float).reshape(rows, -1)
    chosen = numpy.random.default_rng(how.seed).integers(0, rows, size=(how.resamples, rows))
    sums = numpy.stack([each[chosen].sum(axis=1) for each in numbers.T], axis=1)
    return Drawn(float(figure(numbers.sum(axis=0)[None, :])[0]), figure(sums))


def intervals(
    columns: Sequence[Column], figure: Figure, how: Draws
) -> tuple[list[Interval], Interval | None]:
    """An interval for each model, and that of the second's difference to the first."""
    import numpy

    drawn = [draw(column, figure, how) for column in columns]
    found = [each.interval(how.confidence) for each in drawn]
    if len(drawn) < 2:
        return found, None
    with numpy.errstate(invalid="ignore"):
        gap = Drawn(drawn[1].value - drawn[0].value, drawn[1].values - drawn[0].values)
    return found, gap.interval(how.confidence)


def figure_of(column: Column) -> Figure:
    """What the numbers of rows make: the mean of one, the perplexity of nats and tokens."""
    return _perplexity if len(column[0]) == 2 else _mean_of(len(column))


def _mean_of(rows: int) -> Figure:
    return lambda sums: sums[:, 0] / rows


def _perplexity(sums: Array) -> Array:
    import numpy

    return numpy.exp(numpy.minimum(sums[:, 0] / numpy.maximum(sums[:, 1], 1.0), MOST_NATS))
