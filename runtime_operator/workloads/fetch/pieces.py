"""How a fetch is cut: how large a piece is asked for at once, and how many bytes are held in memory.

A process that dies loses what it holds in its buffers and what the kernel has received for it, so small
fetches use small ones: all connections together hold well below a percent of the whole, within bounds that
keep them quick.
"""

from __future__ import annotations

from dataclasses import dataclass

from .part import Part

MEBI = 1 << 20
_LEAST_PIECE, _MOST_PIECE = 4 * MEBI, 16 * MEBI
_LEAST_CHUNK, _MOST_CHUNK = 1 << 14, MEBI
_LEAST_AHEAD, _MOST_AHEAD = 1 << 16, 4 * MEBI
_AT_ONCE = 1 << 16
"""bytes that the kernel has received anyway before the first is read: so small a piece is written at once"""


@dataclass(frozen=True, slots=True)
class Cut:
    """Sizes for one fetch."""

    chunk: int
    """bytes a connection holds before it writes them"""
    piece: int
    """bytes asked for in one request"""
    ahead: int | None
    """bytes the kernel may receive ahead for a connection; None: as many as it likes"""

    @property
    def buffer(self) -> int:
        """Bytes of memory a connection needs."""
        return max(self.chunk, _AT_ONCE)

    def held(self, piece: Piece) -> int:
        """Bytes of a piece that are held before they are written."""
        small = piece.stop is not None and piece.stop - piece.at <= _AT_ONCE
        return self.buffer if small else self.chunk


@dataclass(slots=True)
class Piece:
    """A range of a file that one thread fetches."""

    part: Part
    at: int
    """up to where it is there"""
    stop: int | None
    """None: until the source ends"""


def cut(total: int, connections: int) -> Cut:
    """Choose the sizes for a fetch of `total` bytes."""
    share = total // (connections * 200)
    piece = total // (connections * 4)
    return Cut(
        chunk=_power_of_two(_within(share, _LEAST_CHUNK, _MOST_CHUNK)),
        piece=_power_of_two(_within(piece, _LEAST_PIECE, _MOST_PIECE)),
        ahead=_within(share // 2, _LEAST_AHEAD, _MOST_AHEAD) if share < 2 * _MOST_AHEAD else None,
    )


def pieces_of(part: Part, size: int) -> list[Piece]:
    """What a part still lacks, in pieces; a part that lacks nothing is one piece that is there already."""
    whole = part.entry.size
    if whole is None:
        return [Piece(part, 0, None)]
    if not part.entry.seekable and part.extents.prefix < whole:
        return [Piece(part, 0, whole)]
    missing = [
        Piece(part, at, min(at + size, stop))
        for start, stop in part.extents.missing(whole)
        for at in range(start, stop, size)
    ]
    return missing or [Piece(part, whole, whole)]


def _within(number: int, least: int, most: int) -> int:
    return min(max(number, least), most)


def _power_of_two(number: int) -> int:
    return 1 << (number.bit_length() - 1)
