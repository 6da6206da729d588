"""How much of what is computed is padding, where rows of different lengths are put side by side.

Rows of a step are drawn at random and each is filled up to the longest beside it. What that costs is
counted on one such order of the rows, which is near enough to tell a person that packing would help.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

ORDER = 1


def padding_share(lengths: Sequence[int], *, together: int, limit: int) -> float:
    """The share of padding among all tokens computed, with `together` rows side by side cut at `limit`."""
    order = [min(length, limit) for length in lengths]
    random.Random(ORDER).shuffle(order)
    batches = [order[at : at + together] for at in range(0, len(order), max(1, together))]
    computed = sum(max(batch) * len(batch) for batch in batches)
    return 1 - sum(order) / computed if computed else 0.0
