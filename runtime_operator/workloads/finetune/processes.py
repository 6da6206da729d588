"""Which of the run's processes this one is.

torchrun tells it in RANK, WORLD_SIZE and LOCAL_RANK. A pod whose PET_* variables ask for several processes
but whose command is not torchrun would train as many separate models, all of them thrown away but one:
refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import SetupError

_ASKED = re.compile(r"|[1-9]\d*(:[1-9]\d*)?|auto|cpu|gpu|xpu")
WANTED = ("PET_NNODES", "PET_NPROC_PER_NODE")


@dataclass(frozen=True, slots=True)
class Place:
    """One process among all processes of the run."""

    rank: int
    processes: int
    local: int = 1
    """how many of them share this machine"""

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
        place = Place(
            rank=_count(environment, "RANK", least=0),
            processes=_count(environment, "WORLD_SIZE", least=1),
            local=_count(environment, "LOCAL_WORLD_SIZE", least=1, unset=1),
        )
        if place.rank >= place.processes:
            raise SetupError(
                f"RANK: {place.rank} is not below WORLD_SIZE {place.processes}, start with torchrun"
            )
        return place
    for name in WANTED:
        asked = environment.get(name, "").strip()
        if not _ASKED.fullmatch(asked):
            raise SetupError(f"{name}: must be a number, a range, auto, cpu or gpu, got {asked!r}")
        if any(int(number) > 1 for number in re.findall(r"\d+", asked)):
            raise SetupError(f"{name}: asks for {asked} but this is one process, start with torchrun")
    if _count(environment, "WORLD_SIZE", least=1, unset=1) > 1:
        raise SetupError(
            f"WORLD_SIZE: is {environment['WORLD_SIZE']} and RANK is not set, start with torchrun or unset it"
        )
    return Place(rank=0, processes=1)


def _count(environment: Mapping[str, str], name: str, *, least: int, unset: int | None = None) -> int:
    given = environment.get(name, "" if unset is None else str(unset)).strip()
    if not given.isdecimal() or int(given) < least:
        raise SetupError(f"{name}: must be a number from {least}, got {given!r}; start with torchrun")
    return int(given)
