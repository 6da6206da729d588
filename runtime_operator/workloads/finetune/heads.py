"""The head of a safetensors file: which tensors it holds, and whether the file is what its head says.

A file begins with the length of its head and a head that names every tensor, its type, its shape and its
place. The places must follow each other without a gap and end where the file ends, and each must be as long
as its type and shape say: whatever differs was torn, or written by something that is no safetensors writer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from ...errors import SpecError

LONGEST_HEAD = 100 << 20
BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
}
"""of one number, by type; of a type that is not listed the length is believed"""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight of the model."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


def read_head(file: Path) -> list[Tensor]:
    """The tensors that a safetensors file holds; SpecError if it is torn or no such file."""
    size = file.stat().st_size
    with file.open("rb") as source:
        start = source.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else LONGEST_HEAD + 1
        head = _mapping(source.read(length)) if 2 <= length <= LONGEST_HEAD else None
    if head is None:
        raise SpecError(f"model: {file} is no safetensors file or a damaged one, fetch it again")
    described = {name: each for name, each in head.items() if name != "__metadata__"}
    for name, each in described.items():
        if fault := _fault(each):
            raise SpecError(f"model: {file} is damaged, its tensor {name} {fault}, fetch it again")
    _check_places(
        file, {name: tuple(each["data_offsets"]) for name, each in described.items()}, size - 8 - length
    )
    return [Tensor(name, each["dtype"], tuple(each["shape"])) for name, each in described.items()]


def _mapping(raw: bytes) -> dict[str, Any] | None:
    try:
        head = json.loads(raw)
    except ValueError:
        return None
    return head if isinstance(head, dict) else None


def _fault(each: Any) -> str:
    """What is wrong with the description of a tensor; nothing, where nothing is."""
    if not isinstance(each, Mapping) or not {"dtype", "shape", "data_offsets"} <= set(each):
        return "has no type, shape or place"
    kind, shape, place = each["dtype"], each["shape"], each["data_offsets"]
    if not isinstance(kind, str):
        return f"is of type {kind!r}"
    if not _are_sizes(shape):
        return f"has the shape {shape!r}"
    if not _are_sizes(place) or len(place) != 2 or place[0] > place[1]:
        return f"has the place {place!r}"
    length, bits = place[1] - place[0], BITS.get(kind)
    if bits is not None and prod(shape) * bits != length * 8:
        return f"has {length:,} bytes for {'×'.join(map(str, shape)) or 'one'} of {kind}"
    return ""


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)


def _check_places(file: Path, places: Mapping[str, tuple[int, int]], there: int) -> None:
    end = 0
    for name, (begins, ends) in sorted(places.items(), key=lambda each: each[1]):
        if begins != end:
            raise SpecError(
                f"model: {file} is damaged, its tensor {name} begins at {begins:,} and not at {end:,}, "
                "fetch it again"
            )
        end = ends
    if end != there:
        raise SpecError(
            f"model: {file} is damaged, it has {there:,} bytes of weights of {end:,}, fetch it again"
        )
