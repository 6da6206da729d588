"""Which rows of a dataset are meant: the words for a split, a range of its rows, the shard of one pod.

Rows are counted from 0 over all files of a split in their order, and a range leaves out its end, as slices
do. Shard i of n holds rows i, i+n, i+2n …: the shards of a job hold every row once and differ by at most one
row, whatever the number of rows, and none has to know it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import SpecError
from .split_names import split_of

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Which rows of which split; what is not given is everything."""

    split: str | None = None
    start: int = 0
    stop: int | None = None
    shard: int = 0
    shards: int = 1

    def numbers(self) -> slice:
        """The rows as a slice of their numbers within the split."""
        return slice(self.start + self.shard, self.stop, self.shards)

    def __str__(self) -> str:
        """The words that mean this slice and no other."""
        parts = [f"split={self.split}"] if self.split else []
        if self.start or self.stop is not None:
            parts.append(f"rows={self.start}:{'' if self.stop is None else self.stop}")
        if self.shards > 1:
            parts.append(f"shard={self.shard}/{self.shards}")
        return ",".join(parts) or "rows=0:"


def parse_slice(text: str, environment: Mapping[str, str]) -> RowSlice:
    """The slice that `split=train,rows=0:1000,shard=auto/8` asks for."""
    given: dict[str, Any] = {}
    named: set[str] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name in named:
            raise SpecError(f"slice: {text!r} says {name} twice, say it once")
        named.add(name)
        match name:
            case "split" if value:
                given["split"] = split_of(value) or value
            case "rows":
                given["start"], given["stop"] = _range(value)
            case "shard":
                given["shard"], given["shards"] = _shard(value, environment)
            case _:
                raise SpecError(f"slice: {part!r} is not known, give split=NAME, rows=A:B or shard=I/N")
    if not given:
        raise SpecError(f"slice: {text!r} asks for nothing, give split=NAME, rows=A:B or shard=I/N")
    wanted = RowSlice(**given)
    if wanted.stop is not None and wanted.stop <= wanted.start + wanted.shard:
        raise SpecError(
            f"slice: {text!r} holds no row, its rows are fewer than its shards; ask for more rows"
        )
    return wanted


def _range(value: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"([0-9]{0,18})\s*:\s*([0-9]{0,18})", value)
    if not match or value == ":":
        raise SpecError(f"slice: rows={value} must be rows=A:B with whole numbers, as in rows=0:1000")
    start, stop = int(match[1] or 0), int(match[2]) if match[2] else None
    if stop is not None and stop <= start:
        raise SpecError(f"slice: rows={value} holds no row, its end must be above its start")
    return start, stop


def _shard(value: str, environment: Mapping[str, str]) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,18}|auto)\s*/\s*([0-9]{1,18})", value)
    if not match:
        raise SpecError(f"slice: shard={value} must be shard=I/N as in shard=0/8, or shard=auto/8")
    index = environment.get(INDEX_VARIABLE, "").strip() if match[1] == "auto" else match[1]
    if not (index.isascii() and index.isdigit()):
        raise SpecError(f"slice: shard={value} needs {INDEX_VARIABLE} in the environment, got {index!r}")
    shard, shards = int(index), int(match[2])
    if not shards:
        raise SpecError(f"slice: shard={value} is none, give shard=I/N with N of 1 or more")
    if not shard < shards:
        raise SpecError(f"slice: shard={shard}/{shards} is none, shards are counted from 0 to {shards - 1}")
    return shard, shards
