"""Charts as inline SVG whose lines stretch with the page while their labels keep the size of the text.

The drawing lies in a 1000 × 1000 box that is stretched to the frame (strokes keep their width); axis labels
are HTML placed by percentages. So a chart is as readable at 400 pixels as at 1200.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .page import Html

SIDE = 1000
TICKS = 5
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Series:
    """A named line."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A named share between 0 and 1, and how it is written."""

    name: str
    share: float
    text: str


def line_chart(series: Sequence[Series], *, x_name: str, y_name: str) -> Html:
    """One or two lines over a common grid that starts at nought on the upright axis."""
    points = [point for line in series for point in line.points if math.isfinite(point[1])]
    if not points:
        return Html("<p>no finite value was logged</p>")
    x_ticks = ticks(min(x for x, _ in points), max(x for x, _ in points))
    y_ticks = ticks(min(0.0, *(y for _, y in points)), max(y for _, y in points))
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    if x_low == x_high:
        x_high = x_low + 1
    x_ticks = [tick for tick in x_ticks if x_low <= tick <= x_high]
    y_low, y_high = y_ticks[0], y_ticks[-1]

    def across(value: float) -> float:
        return (value - x_low) / (x_high - x_low)

    def down(value: float) -> float:
        return 1 - (value - y_low) / (y_high - y_low)

    grid = "".join(
        f'<path class="{"axis" if tick == y_low else "grid"}" d="M0 {down(tick) * SIDE:.1f}H{SIDE}"/>'
        for tick in y_ticks
    )
    lines = "".join(
        f'<path class="series {style}" d="{_path([(across(x), down(y)) for x, y in line.points])}"/>'
        for line, style in zip(series, ("one", "two"), strict=False)
    )
    labels = "".join(
        [f'<span class="y" style="top:{down(tick):.2%}">{number(tick)}</span>' for tick in y_ticks]
        + [f'<span class="x" style="left:{across(tick):.2%}">{number(tick)}</span>' for tick in x_ticks]
    )
    what = ", ".join(
        f"{line.name}: from {number(line.points[0][1])} to {number(line.points[-1][1])}" for line in series
    )
    return Html(
        f"<figure>{_caption(series, y_name)}\n"
        f'<div class="plot"><svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(f"{y_name} over {x_name}; {what}")}">{grid}{lines}</svg>'
        f'{labels}<span class="name">{escape(x_name)}</span></div></figure>'
    )


def bar_chart(bars: Sequence[Bar], *, leading: int = -1) -> Html:
    """Shares of a whole, one bar each; the leading one, else the last, is drawn in the first colour."""
    rows = "\n".join(_bar(bar, "one" if bar is bars[leading] else "two") for bar in bars)
    return Html(f'<div class="bars">\n{rows}\n</div>')


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`, about five of them."""
    span = high - low if high - low > TINY else max(abs(high), 1.0)
    raw = span / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step), math.ceil((low + span) / step - 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, max(last, first + 1) + 1)]


def number(value: float) -> str:
    """A number as an axis shows it: short, and without a tail of noughts."""
    return f"{value:,.10g}" if abs(value) >= 1000 else f"{value:.4g}"


def _bar(bar: Bar, style: str) -> str:
    label = escape(f"{bar.name}: {bar.text}")
    return (
        f'<span>{escape(bar.name)}</span><svg viewBox="0 0 {SIDE} 20" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><rect class="{style}" width="{bar.share * SIDE:.1f}" height="20"/></svg>'
        f"<b>{escape(bar.text)}</b>"
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    """An SVG path that leaves a gap where a value is not a number."""
    parts, pen_down = [], False
    for x, y in points:
        if math.isfinite(y):
            parts.append(f"{'L' if pen_down else 'M'}{x * SIDE:.1f} {y * SIDE:.1f}")
        pen_down = math.isfinite(y)
    return "".join(parts)


def _caption(series: Sequence[Series], y_name: str) -> str:
    if len(series) == 1:
        return f"<figcaption>{escape(y_name)}</figcaption>"
    keys = "".join(
        f'<span class="key {style}">{escape(line.name)}</span>'
        for line, style in zip(series, ("one", "two"), strict=False)
    )
    return f"<figcaption>{keys}</figcaption>"
