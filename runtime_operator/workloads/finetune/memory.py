"""How much memory this process holds: on a GPU what torch gave out there, else its share of the machine's."""

from __future__ import annotations

import os
import resource
from pathlib import Path

STATM = Path("/proc/self/statm")


def held_now() -> int:
    """Bytes held while a step is told; on a GPU the most so far, since between steps little is held."""
    if _on_gpu() or not STATM.is_file():
        return held_at_most()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held_at_most() -> int:
    """The most bytes held at once."""
    if _on_gpu():
        import torch

        return int(torch.cuda.max_memory_allocated())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _on_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())
