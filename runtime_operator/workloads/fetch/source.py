"""What a source of files is: the protocol between the engine and the modules of `sources/`.

A source is made once for a fetch, by its module's `open_source(request)`; `schemes.py` says which module
serves which scheme. It then answers two questions:

    resolve()                 which files are there, and at which revision
    open(entry, start, stop)  the bytes start..stop-1 of one of them, as something to read from

Everything else belongs to the engine: which files are wanted, parallel ranges, retries and back-off, the
journal, digests, names that lead out of the folder, disk space, the lock, progress, MANIFEST.json. So:

- A source never retries and never sleeps. It raises one of `troubles.py` and the engine decides:
  `Transient` (with `after=` from Retry-After), `Expired` (the token or the signed address; the engine calls
  `renew()` and opens again), `Changed` (the file is another one by now), `FetchError` (asking again
  cannot help); a SpecError for a URI nobody could serve, a SetupError for a missing library or program.
- `resolve()` may be called again after `Changed` and must then look anew. It lists files only, no folders.
  Size, digest and etag come from the source's own index, never from its file names.
- `open()` is called by many threads at once. What it returns is read with `readinto`, blocks for at most
  `STALL_SECONDS` a call (then: TimeoutError or Transient) and gives 0 at the end. It may end early or late:
  the engine counts. OSError and TimeoutError from it count as Transient. Where `entry.seekable` is
  false, start is always 0 and stop the size.
- Bytes over HTTP come from `http_client.Http`, which does ranges, redirects, validators, Retry-After and
  time limits already: `return self.http.open_range(url, start, stop, headers=..., etag=entry.etag)`.
- A credential comes from `request.secrets` and from nowhere else (`get("ACCESS_TOKEN")`; empty is None).
  What else turns out to be secret on the way (a signed query, a token somebody exchanged) is told to
  `request.secrets.hide(text)` before it can stand in a message: messages, logs and the manifest are cleaned
  of all that was hidden. Never put one on a command line.
- An archive (a layer, a wheel) is an entry with `unpack`: the engine fetches and verifies it, takes the
  members that `unpack(path)` yields, checks their names, and puts them into the folder instead.
- What a source must keep on disk (a clone) goes under `request.scratch`, which the engine removes. Files it
  made there are entries too: `open` returns the opened file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from .connections import Limits
from .hidden import Secrets
from .selection import Selection
from .uri import Uri

STALL_SECONDS = 60.0
"""how long a source may say nothing before it counts as hanging"""

Kind = Literal["dataset", "model"]
DigestKind = Literal["sha256", "sha512", "sha1", "md5", "git-sha1"]
"""git-sha1 is git's name of a blob: the SHA-1 of `blob SIZE NUL` and the contents"""


class Reader(Protocol):
    """A stream of bytes: an opened file, a response's body."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill a part of the buffer and say how much; 0 at the end."""

    def close(self) -> None:
        """Nothing more is read; also called when the stream is not at its end."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What the source says a file's contents hash to."""

    kind: DigestKind
    value: str
    """lower-case hexadecimal"""

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive; links and devices are named too, so that the engine can refuse them."""

    path: str
    reader: Reader | None
    """None for what is no regular file"""
    what: str = "file"
    """`symlink`, `device` … where it is no regular file"""


Unpack = Callable[[Path], Iterator[Member]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file at the source."""

    path: str
    """where it goes in the folder, with `/` between its parts"""
    size: int | None
    """None only where the source cannot tell before it sends; such an entry is never seekable"""
    digest: Digest | None = None
    etag: str = ""
    """anything that is another when the contents are another; without digest or etag nothing is resumed"""
    seekable: bool = True
    """whether a range may begin anywhere"""
    unpack: Unpack | None = None
    what: str = "file"
    """`symlink`, `device` … where it is no regular file: the engine refuses it, if it is wanted"""
    handle: object = field(default=None, compare=False)
    """the source's own; the engine passes it back"""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds."""

    revision: str
    """what pins it: a commit, an image digest, a version; else a digest over names, sizes and etags"""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a source."""

    uri: Uri
    kind: Kind
    selection: Selection
    """what is wanted; the engine applies it, a source may use it to list less"""
    secrets: Secrets
    scratch: Path
    """a folder of this fetch's own, made when the source first asks for it: `request.scratch.mkdir()`"""
    limits: Limits = field(default_factory=Limits)
    """for `Http(request.secrets, limits=request.limits)`; the engine changes them when it knows the sizes"""


class Source(Protocol):
    """One place that holds files."""

    def resolve(self) -> Listing:
        """Say which files there are, and at which revision."""

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """Open the bytes from start up to stop; None for stop means until the end."""

    def renew(self) -> None:
        """Get a new token or address after `Expired`; FetchError where there is no other."""

    def close(self) -> None:
        """Give back connections."""


OpenSource = Callable[[Request], Source]
"""what a module of `sources/` has under the name `open_source`"""
