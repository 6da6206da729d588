"""How often each length occurs: upright bars over round steps, with a mark where room ends.

Drawn like the other charts: the bars stretch with the page, the labels keep the size of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .chart import SIDE, number, ticks
from .page import Html

GAP = 0.12
LABELS = 5
TALL_ENOUGH = 0.004  # a bar of few rows is still to be seen


def histogram(
    bins: Sequence[tuple[float, float, int]], *, x_name: str, y_name: str, limit: float | None = None
) -> Html:
    """Bars for `(low, high, count)`; those at or above `limit` are drawn as what loses its end."""
    low, high = bins[0][0], bins[-1][1]
    if len(bins) > 1:  # the last bin reaches to the longest of all; it is drawn as wide as the others
        high = bins[-1][0] + (bins[0][1] - bins[0][0])
    y_ticks = ticks(0, max(count for _, _, count in bins))
    top = y_ticks[-1]
    step = (high - low) / len(bins)
    grid = "".join(
        f'<path class="{"axis" if tick == 0 else "grid"}" d="M0 {SIDE * (1 - tick / top):.1f}H{SIDE}"/>'
        for tick in y_ticks
    )
    bars = "".join(
        _bar(at, len(bins), count / top, over=limit is not None and begins >= limit)
        for at, (begins, _, count) in enumerate(bins)
        if count
    )
    mark, word = _limit(limit, low, high)
    y_labels = [f'<span class="y" style="top:{1 - tick / top:.2%}">{number(tick)}</span>' for tick in y_ticks]
    every = max(1, len(bins) // LABELS)
    x_labels = [
        f'<span class="x" style="left:{at / len(bins):.2%}">{number(low + at * step)}</span>'
        for at in range(0, len(bins) + 1, every)
    ]
    total = sum(count for _, _, count in bins)
    label = escape(f"{y_name} by {x_name}: {total:,} rows from {number(low)} to {number(bins[-1][1])}")
    return Html(
        f"<figure><figcaption>{escape(y_name)}</figcaption>\n"
        f'<div class="plot"><svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{grid}{bars}{mark}</svg>'
        f'{"".join(y_labels + x_labels)}{word}<span class="name">{escape(x_name)}</span></div></figure>'
    )


def _bar(at: int, of: int, share: float, *, over: bool) -> str:
    width = SIDE / of
    tall = max(share, TALL_ENOUGH) * SIDE
    return (
        f'<rect style="fill:var(--{"bad" if over else "one"})" x="{(at + GAP / 2) * width:.1f}" '
        f'y="{SIDE - tall:.1f}" width="{width * (1 - GAP):.1f}" height="{tall:.1f}"/>'
    )


def _limit(limit: float | None, low: float, high: float) -> tuple[str, str]:
    """The upright line where room ends, and its label; nothing when it lies beyond the bars."""
    if limit is None or not low < limit < high:
        return "", ""
    share = (limit - low) / (high - low)
    line = (
        f'<path style="stroke:var(--bad);stroke-width:2;vector-effect:non-scaling-stroke" '
        f'd="M{share * SIDE:.1f} 0V{SIDE}"/>'
    )
    side = (
        f"right:{1 - share:.2%};margin-right:.4rem" if share > 0.5 else f"left:{share:.2%};margin-left:.4rem"
    )
    return line, f'<span style="{side};top:.2rem;color:var(--bad)">room for {number(limit)}</span>'
