"""A recording as an SVG that plays by itself, also as an image of a page: no scripts, a few kilobytes.

Each line is there from its second to its end, by a rule of CSS of its own; the whole moves up as the terminal
is full. Who wants no motion sees the end.
"""

from collections.abc import Sequence
from html import escape

from .playback import Shown

WIDE, HIGH, SIZE = 8.43, 20.0, 14
"""a character of the font at its size"""
EDGE, BAR = 16.0, 40.0
REST = 10.0
"""seconds for which the end is to be seen"""
STYLE = """\
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dce2;
  white-space: pre; }
.step { fill: #6db3f8; } .bar { fill: #6fd6a0; } .title { fill: #8b949e; } .end { fill: #ffd479; }
.gone { opacity: 0; }
g, text { animation-duration: %.1fs; animation-timing-function: step-end;
  animation-iteration-count: infinite; }
@media (prefers-reduced-motion) { g, text { animation: none !important; } }
"""


def animate(lines: Sequence[Shown], *, title: str, columns: int, rows: int, speed: float) -> str:
    """The SVG of what was shown, played `speed` times as fast."""
    whole = max(line.begin for line in lines) / speed + REST
    used = 1 + max(line.row for line in lines)
    rules, texts = [], []

    def percent(second: float) -> str:
        return f"{min(100 * second / speed / whole, 99.99):.2f}%"

    for number, line in enumerate(lines):
        if not line.text.strip():
            continue
        until = f"{percent(line.end)}{{opacity:0}}" if line.end is not None else ""
        rules.append(f"@keyframes k{number}{{0%{{opacity:0}}{percent(line.begin)}{{opacity:1}}{until}}}")
        texts.append(
            f'<text x="{EDGE}" y="{(line.row + 1) * HIGH:.0f}" class="{class_of(line)}" '
            f'style="animation-name:k{number}">{escape(line.text)}</text>'
        )
    seen: dict[int, float] = {}
    for line in lines:
        seen.setdefault(max(0, line.row + 1 - rows), line.begin)
    moves = "".join(
        f"{percent(begin)}{{transform:translateY({-HIGH * up:.0f}px)}}" for up, begin in seen.items() if up
    )
    rules.append(f"@keyframes move{{0%{{transform:none}}{moves}}}")
    width, height = 2 * EDGE + columns * WIDE, BAR + rows * HIGH + EDGE
    last = -HIGH * max(0, used - rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}">\n<style>\n{STYLE % (SIZE, whole)}{chr(10).join(rules)}\n</style>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#14171b"/>\n'
        f'<text x="{EDGE}" y="22" class="title">{escape(title)}</text>\n'
        f'<svg y="{BAR}" width="{width:.0f}" height="{rows * HIGH + EDGE / 2:.0f}">\n'
        f'<g style="transform:translateY({last:.0f}px);animation-name:move">\n'
        + "\n".join(texts)
        + "\n</g>\n</svg>\n</svg>\n"
    )


def class_of(line: Shown) -> str:
    """How a line is coloured: by what it is."""
    text = line.text
    names = [
        *(["gone"] if line.end is not None else []),
        *(["step"] if text.startswith(("── ", "$ ")) else []),
        *(["bar"] if "█" in text or "░" in text else []),
        *(["end"] if text.startswith(("Right answers", "Open", "Try next")) else []),
    ]
    return " ".join(names)
