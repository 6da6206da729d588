"""How often a long loop runs: sampled in `make test`, in full under `make soak`."""

import os

SOAK = os.environ.get("KFP_TRAINER_SOAK") == "1"


def count(full: int, *, sampled: int) -> int:
    """Return the full count under `make soak`, the sampled one elsewhere."""
    return full if SOAK else sampled
