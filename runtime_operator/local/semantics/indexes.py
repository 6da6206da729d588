"""Sets of completion indexes and their written form: `0,2-4`."""

from __future__ import annotations

from collections.abc import Set


def parse(text: str, completions: int) -> frozenset[int]:
    """The indexes below `completions` that a text like `0,2-4` names; nonsense names none."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.update(range(int(first), min(int(last or first) + 1, completions)))
    return frozenset(each for each in found if each < completions)


def write(indexes: Set[int]) -> str:
    """The written form of a set of indexes, two neighbours apart and three or more as a range."""
    runs: list[list[int]] = []
    for each in sorted(indexes):
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ",".join(_run(run) for run in runs)


def _run(run: list[int]) -> str:
    if len(run) < 3:
        return ",".join(map(str, run))
    return f"{run[0]}-{run[-1]}"


def first_free(taken: Set[int], count: int, completions: int) -> list[int]:
    """The lowest `count` indexes that are not taken."""
    free: list[int] = []
    for each in range(completions):
        if len(free) >= count:
            break
        if each not in taken:
            free.append(each)
    return free
