"""How many CPU threads a process computes with.

The number goes into the environment before torch is loaded: OpenMP reads it only then, and accelerate sets
its own number where the variable is absent. Threads that outnumber the free cores wait for each other in
every operation, which costs a small model more than they bring.
"""

from __future__ import annotations

import os
import sys

VARIABLE = "OMP_NUM_THREADS"


def limit_threads(threads: int | None) -> None:
    """Compute with that many threads from now on; None leaves the choice to torch."""
    if threads is None:
        return
    os.environ[VARIABLE] = str(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
