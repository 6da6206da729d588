"""Keeps the generated files of a pod's volumes fresh: tokens in good time, objects as they change."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ...errors import KfpTrainerError
from .bench import Bench
from .generated import SOURCES
from .preparation import fill_volumes
from .references import look_up, tokens

_SHARE = 0.8


async def keep_fresh(bench: Bench) -> None:
    """Look everything up again and again, write what has changed; done at once where nothing can."""
    seconds = _period(bench)
    while seconds is not None:
        await asyncio.sleep(seconds)
        with suppress(KfpTrainerError, OSError):  # the old files serve until the next try
            fill_volumes(bench, await look_up(bench.pod, bench.resolver))


def _period(bench: Bench) -> float | None:
    """Return how long what was written is good for; None for ever."""
    spans = [_SHARE * token.seconds for token in tokens(bench.pod)]
    volumes = bench.pod["spec"].get("volumes") or ()
    if bench.settings.refresh and any(kind in volume for volume in volumes for kind in SOURCES):
        spans.append(bench.settings.refresh)
    return min(spans, default=None)
