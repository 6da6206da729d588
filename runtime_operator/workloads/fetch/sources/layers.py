"""Files out of layers: tars, plain or compressed, read as a stream and merged as a container would see them.

The last layer is read first, so that one pass is enough: what it holds or deletes hides what lies below.
Nothing is believed of a tar but its bytes. Links, devices and sparse files are named and not read; a header
of an absurd length, and a stream that grows out of all proportion, end the reading, since both are how a
small blob fills a disk or a memory. Names are checked by the engine, which sees them as they stand.
"""

from __future__ import annotations

import gzip
import importlib
import sys
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ....errors import SetupError
from ..source import Member
from ..troubles import FetchError

MOST_RATIO = 100
"""how many bytes one byte of a layer may become; text seldom becomes 20, zeros 1000"""
FREE_BYTES = 256 << 20
"""what may be unpacked whatever the ratio"""
MOST_HEADER = 1 << 20
_BUFFER = 1 << 20
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_LONG_HEADERS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, b"x", b"g", b"X")
_WHAT = {
    tarfile.SYMTYPE: "symlink",
    tarfile.LNKTYPE: "hard link",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "named pipe",
}


class _Damaged(Exception):
    """A layer is not what it should be; the text says why."""


class _Header(tarfile.TarInfo):
    """A header that is read only if it is of a sensible length."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        """Read what belongs to the header; the method that tarfile leaves to subclasses."""
        if self.type in _LONG_HEADERS and self.size > MOST_HEADER:
            raise _Damaged(f"a header of {self.size} bytes")
        return cast(tarfile.TarInfo, super()._proc_member(tar))  # type: ignore[misc]


class _Bounded:
    """A decompressed stream that may not outgrow its layer."""

    def __init__(self, stream: Any, blob_size: int) -> None:
        self._stream = stream
        self._left = max(FREE_BYTES, blob_size * MOST_RATIO)

    def read(self, size: int) -> bytes:
        """Read, as tarfile asks; damage where too much came out."""
        piece = bytes(self._stream.read(size))
        self._left -= len(piece)
        if self._left < 0:
            raise _Damaged(f"more than {MOST_RATIO} times its size when unpacked")
        return piece


class _Zstd:
    """A zstd stream whose damage is told as any other's."""

    def __init__(self, stream: Any, damage: type[Exception]) -> None:
        self._stream, self._damage = stream, damage

    def read(self, size: int) -> bytes:
        """Read on."""
        try:
            return bytes(self._stream.read(size))
        except self._damage as error:
            raise ValueError(str(error)) from None


class _FileInTar:
    """What `source.Reader` asks for, over a member."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name

    def readinto(self, buffer: memoryview, /) -> int:
        """Read on; FetchError where the layer is damaged."""
        with _told(self._name):
            return cast(Any, self._stream).readinto(buffer) or 0

    def close(self) -> None:
        """The tar is read on from wherever this was left."""
        self._stream.close()


class _Above:
    """What the layers above hold and delete, as the layers below feel it."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._deleted: set[str] = set()
        self._emptied: set[str] = set()

    def hides(self, path: str) -> bool:
        """Whether a file of a lower layer is not seen."""
        if path in self._files or path in self._folders or path in self._deleted or "" in self._emptied:
            return True
        return any(
            folder in self._files or folder in self._deleted or folder in self._emptied
            for folder in _folders(path)
        )

    def add(self, paths: set[str]) -> None:
        """Put one more layer above: files, and the marks among them."""
        for path in paths:
            folder, _, last = path.rpartition("/")
            if last == _OPAQUE:
                self._emptied.add(folder)
            elif last.startswith(_WHITEOUT):
                self._deleted.add("/".join(filter(None, (folder, last.removeprefix(_WHITEOUT)))))
            else:
                self._files.add(path)
                self._folders.update(_folders(path))


def merged(layers: Sequence[Path], name: str) -> Iterator[Member]:
    """The files of an image from its layers, the first being the lowest; whiteouts applied."""
    above = _Above()
    for layer in reversed(layers):
        here: set[str] = set()
        for member in members(layer, name):
            here.add(member.path)
            if not _is_mark(member.path) and not above.hides(member.path):
                yield member
        above.add(here)


def members(layer: Path, name: str) -> Iterator[Member]:
    """What one tar holds, without folders; a `./` before a name is dropped."""
    with _told(name), _decompressed(layer) as stream:
        bounded = cast(IO[bytes], _Bounded(stream, layer.stat().st_size))
        with tarfile.open(fileobj=bounded, mode="r|", bufsize=_BUFFER, tarinfo=_Header) as tar:
            while (found := tar.next()) is not None:
                cast(Any, tar).members.clear()  # it would keep every header of a hundred thousand
                if not found.isdir():
                    yield _member(tar, found, name)


def _member(tar: tarfile.TarFile, found: tarfile.TarInfo, name: str) -> Member:
    path = found.name
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    if found.issparse():
        return Member(path, None, "sparse file")
    if not found.isreg():
        return Member(path, None, _WHAT.get(found.type, "entry of an unknown type"))
    stream = tar.extractfile(found)
    assert stream is not None
    return Member(path, _FileInTar(stream, name))


def _is_mark(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_WHITEOUT)


def _folders(path: str) -> Iterator[str]:
    """The folders that a path lies in, from the nearest."""
    while path := path.rpartition("/")[0]:
        yield path


@contextmanager
def _decompressed(layer: Path) -> Iterator[Any]:
    """The tar in a layer, whatever its media type says of compression."""
    with layer.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        if start[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=file) as unzipped:
                yield unzipped
        elif start == b"\x28\xb5\x2f\xfd":
            with _zstd(file) as unpacked:
                yield unpacked
        else:
            yield file


@contextmanager
def _zstd(file: IO[bytes]) -> Iterator[Any]:
    """A stream of what a zstd file holds, by what is the standard library's from Python 3.14 on."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        library = importlib.import_module(name)
    except ImportError:
        raise SetupError(
            f"a layer is compressed by zstd, which needs {name}; pip install 'kfp-trainer[fetch]'"
        ) from None
    with library.ZstdFile(file) as unpacked:
        yield _Zstd(unpacked, library.ZstdError)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Damage of a layer, in a sentence."""
    try:
        yield
    except _Damaged as damage:
        raise FetchError(
            f"{name}: a layer has {damage}, which no dataset or model has; build it anew"
        ) from None
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise FetchError(f"{name}: a layer is no tar that can be read ({why}), build it anew") from None
