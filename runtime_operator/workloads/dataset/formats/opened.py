"""Files opened as streams of bytes, decompressed on the way, and what their damage looks like."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

# What a reader of compressed bytes raises when they are cut off or altered.
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
MOST_BYTES = 64 << 20  # a row larger than this is a mistake, whatever it holds


def open_stream(path: Path, compression: str | None) -> BinaryIO:
    """The bytes of a file, in order, decompressed as they are read."""
    match compression:
        case None:
            return path.open("rb", buffering=1 << 20)
        case "gzip":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case "bz2":
            return cast(BinaryIO, bz2.open(path, "rb"))
        case "xz":
            return cast(BinaryIO, lzma.open(path, "rb"))
        case _:
            import pyarrow

            raw = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), compression)
            return io.BufferedReader(raw, 1 << 20)


def lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number, in bounded memory; None for a line that is too large to be a row."""
    number = 0
    while line := stream.readline(MOST_BYTES):
        number += 1
        if len(line) < MOST_BYTES or line.endswith(b"\n"):
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MOST_BYTES)
        yield number, None


def damage(error: BaseException) -> str:
    """The words for a file that cannot be read to its end."""
    words = " ".join(str(error).split())[:160] or type(error).__name__
    return f"cannot be read on ({words[:1].lower()}{words[1:]})"
