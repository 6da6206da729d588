"""Which of the run's processes this one is, and its share of a batch.

torchrun tells it in RANK, WORLD_SIZE and LOCAL_RANK. A pod whose PET_* variables ask for several processes
but whose command is not torchrun would train as many separate models, all of them thrown away but one:
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import SetupError, SpecError

WANTED = ("PET_NNODES", "PET_NPROC_PER_NODE")


@dataclass(frozen=True, slots=True)
class Place:
    """One process among all processes of the run."""

    rank: int
    processes: int

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        """Whether there is no other process."""
        return self.processes == 1


def read_place(environment: Mapping[str, str]) -> Place:
    """The place of this process, from the variables that torchrun sets."""
    if "RANK" in environment:
        return Place(rank=int(environment["RANK"]), processes=int(environment["WORLD_SIZE"]))
    for name in WANTED:
        if environment.get(name, "1").isdigit() and int(environment.get(name, "1")) > 1:
            raise SetupError(
                f"{name}: asks for {environment[name]} but this is one process, start with torchrun"
            )
    return Place(rank=0, processes=1)


def share_of_batch(batch_size: int, processes: int) -> int:
    """The rows of a step that each process takes."""
    if batch_size % processes:
        down, up = batch_size // processes * processes, (batch_size // processes + 1) * processes
        advice = f"take {down} or {up}" if down else f"take {up}"
        raise SpecError(f"batch_size: {batch_size} rows do not divide among {processes} processes, {advice}")
    return batch_size // processes
