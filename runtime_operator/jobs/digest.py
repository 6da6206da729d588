"""The last words on a job that failed: cause, exit codes, the last lines, and where the time went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..local.causes import Death

LAST_LINES = 50


def digest(
    job: str, *, why: str, deaths: Sequence[Death], lines: Iterable[str], times: Sequence[tuple[str, float]]
) -> str:
    """Tell how a job failed, the cause first, so that the last thing printed is enough to begin with."""
    parts = [f"job {job} failed: {why}"]
    tail = list(lines)[-LAST_LINES:]
    if tail:
        parts += [f"last {len(tail)} lines:", *(f"  {line}" for line in tail)]
    if deaths:
        parts += ["exit codes:", *(f"  {each}" for each in deaths)]
    if times:
        parts.append("time: " + ", ".join(f"{what} {seconds:.0f} s" for what, seconds in times))
    return "\n".join(parts)
