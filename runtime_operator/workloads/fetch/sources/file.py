"""file:///PATH and pvc://CLAIM/PATH: a file or a folder that is mounted here.

A claim is looked for below `/mnt/claims/CLAIM`, or below the folder that KFP_TRAINER_CLAIMS names: mount it
there, read-only, in the runtime or by the job's runtimePatches. A file that changes while it is read is
seen by its time of change. Links and devices are listed as what they are, for the engine to refuse.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from ....errors import SetupError, SpecError
from ..source import Entry, Listing, Reader, Request
from ..troubles import Changed, FetchError

CLAIMS_VARIABLE = "KFP_TRAINER_CLAIMS"
CLAIMS = "/mnt/claims"
_KINDS = {
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


def open_source(request: Request) -> Files:
    """The files of an address."""
    uri = request.uri
    path = Path("/", unquote(uri.path)) if uri.scheme == "file" else _in_claim(request)
    if uri.scheme == "file" and uri.host not in ("", "localhost"):
        raise SpecError(f"{uri.text}: names the host {uri.host}, write file:///{uri.host}/{uri.path}")
    return Files(path, uri.text)


class Files:
    """A file or a folder of this machine."""

    def __init__(self, root: Path, text: str) -> None:
        self._root, self._text = root.resolve(), text

    def resolve(self) -> Listing:
        """List what is there; the revision is a digest of names, sizes and times of change."""
        if not os.path.lexists(self._root):
            raise FetchError(f"{self._text}: does not exist, mind the spelling and what is mounted")
        try:
            entries = tuple(self._entries())
        except OSError as error:
            raise FetchError(f"{self._text}: cannot be read ({error.strerror or error})") from None
        total = hashlib.sha256()
        for entry in entries:
            total.update(f"{entry.path}\0{entry.etag}\n".encode("utf-8", "surrogateescape"))
        return Listing(f"files-{total.hexdigest()[:16]}", entries)

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """Open a file at a place, checked against what was listed."""
        return open_local(entry, start, self._text)

    def renew(self) -> None:
        """There is nothing that could run out."""

    def close(self) -> None:
        """There is nothing to give back."""

    def _entries(self) -> Iterator[Entry]:
        if not self._root.is_dir():
            yield _entry(self._root, self._root.name)
            return
        for folder, folders, names in os.walk(self._root, onerror=_raise):
            folders.sort()
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in sorted(names + links):
                path = Path(folder, name)
                yield _entry(path, path.relative_to(self._root).as_posix())


class LocalReader:
    """A file, read from a place on, that must stay the one that was listed."""

    def __init__(self, fd: int, start: int, entry: Entry, text: str) -> None:
        self._file = os.fdopen(fd, "rb", buffering=0)
        self._entry, self._text = entry, text
        self._check()
        self._file.seek(start)

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read, and look after it whether the file is still the same."""
        count = self._file.readinto(buffer)
        self._check()
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check(self) -> None:
        if validator(os.fstat(self._file.fileno())) != self._entry.etag:
            self._file.close()
            raise Changed(f"{self._text}: {self._entry.path} changed while it was read")


def open_local(entry: Entry, start: int, text: str) -> LocalReader:
    """Open the file that is an entry's handle at a place."""
    assert isinstance(entry.handle, Path)
    try:
        fd = os.open(entry.handle, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Changed(f"{text}: {entry.path} is gone") from None
    except OSError as error:
        raise FetchError(f"{text}: {entry.path} cannot be read ({error.strerror})") from None
    return LocalReader(fd, start, entry, text)


def validator(found: os.stat_result) -> str:
    """What is another when a file's contents are another."""
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"


def _entry(path: Path, name: str) -> Entry:
    found = os.lstat(path)
    what = _KINDS.get(stat.S_IFMT(found.st_mode), "file")
    return Entry(name, found.st_size, etag=validator(found), what=what, handle=path)


def _in_claim(request: Request) -> Path:
    uri = request.uri
    root = Path(request.secrets.get(CLAIMS_VARIABLE) or CLAIMS)
    if not uri.host or uri.host in (".", ".."):
        raise SpecError(f"{uri.text}: names no claim, give pvc://CLAIM/PATH")
    mounted = root / uri.host
    if not mounted.is_dir():
        raise SetupError(
            f"{uri.text}: the claim {uri.host} is not mounted at {mounted}, mount it there in the runtime or "
            f"by runtimePatches, or name another folder of mounts in {CLAIMS_VARIABLE}"
        )
    wanted = (mounted / unquote(uri.path)).resolve()
    if not wanted.is_relative_to(mounted.resolve()):
        raise SpecError(f"{uri.text}: leads out of the claim {uri.host}, give a path inside it")
    return wanted


def _raise(error: OSError) -> None:
    raise error
