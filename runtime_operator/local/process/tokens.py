"""Keeps the tokens in a pod's volumes fresh: written anew when four fifths of their time are over."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ...errors import KfpTrainerError
from .bench import Bench
from .preparation import fill_volumes
from .references import look_up, tokens

_SHARE = 0.8


async def keep_fresh(bench: Bench) -> None:
    """Look everything up again and again, and write the generated files; at once done without a token."""
    seconds = min((token.seconds for token in tokens(bench.pod)), default=None)
    while seconds is not None:
        await asyncio.sleep(_SHARE * seconds)
        with suppress(KfpTrainerError, OSError):  # the old token serves until the next try
            fill_volumes(bench, await look_up(bench.pod, bench.resolver))
