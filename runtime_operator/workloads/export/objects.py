"""s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX: an object a file, the record last.

A bucket has no rename, so the record says what counts: it is written before the first object, as not
complete, and again when every object is there and proved. Objects are proved by their ETag where it is the
MD5 of what was sent, part by part, and else by reading them back. What an earlier export put there and this
one does not have is removed at the end; a prefix with other people's objects is refused.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...errors import SetupError, SpecError
from ..fetch.selection import Selection
from ..fetch.source import Request
from ..fetch.sources.object_store_reader import told
from ..fetch.sources.object_store_settings import make_store
from ..fetch.troubles import Expired, FetchError
from .bundle import RECORD, Bundle, File, read_record
from .place import ExportError, Put, Target

PART = 16 << 20
MOST_PARTS = 9000
AT_ONCE = 4
PROBE = ".kfp-trainer-write-test"
CREDENTIALS = {
    "s3": "ACCESS_KEY_ID and SECRET_ACCESS_KEY (or AWS_…), ENDPOINT and REGION",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS or ACCESS_TOKEN",
    "az": "AZURE_STORAGE_ACCOUNT_NAME with a key or a token",
}


def open_place(target: Target) -> Objects:
    """The objects below a prefix."""
    try:
        import obstore  # noqa: F401
    except ImportError:
        raise SetupError(
            f"{target.uri.scheme}://: needs obstore, which is not here; pip install 'kfp-trainer[fetch]'"
        ) from None
    return Objects(target)


class Objects:
    """One prefix of a bucket."""

    def __init__(self, target: Target) -> None:
        self._text, self._scheme = target.text, target.uri.scheme
        self._prefix = unquote(target.uri.path).strip("/")
        if not target.uri.host or not self._prefix:
            raise SpecError(f"{self._text}: names no prefix, give {self._scheme}://BUCKET/PREFIX")
        self._request = Request(target.uri, "model", Selection("model"), target.secrets, Path())

    @cached_property
    def _store(self) -> Any:
        """Made when it is first used: to find a bucket's region, somebody is asked."""
        return make_store(self._request)[0]

    def check(self) -> None:
        """Write and remove a small object, and look whose the others are."""
        import obstore

        with self._telling():
            obstore.put(self._store, self._key(PROBE), b"")
            obstore.delete(self._store, self._key(PROBE))
            there = {str(meta["path"]) for meta in self._listed()}
        if there and self._record() is None:
            name = min(there).removeprefix(f"{self._prefix}/")
            raise SpecError(
                f"{self._text}: holds objects that no export has put there (such as {name}), "
                "give another prefix"
            )

    def put(self, bundle: Bundle) -> Put:
        """Send what is not there, and prove all of it."""
        import obstore

        with self._telling():
            there = {str(meta["path"]): meta for meta in self._listed()}
        wanted = [file for file in bundle.files if not self._is_right(file, there.get(self._key(file.path)))]
        record = self._record()
        whole = record is not None and record.get("complete") and record.get("digest") == bundle.digest
        if whole and not wanted:
            return Put(self._text, 0)
        before = [str(each["path"]) for each in record["files"]] if record else []
        with self._telling():
            obstore.put(self._store, self._key(RECORD), bundle.record(complete=False))
        for file in wanted:
            self._send(file)
        with self._telling():
            stale = set(before) - {file.path for file in bundle.files}
            for path in sorted(stale & {key.removeprefix(f"{self._prefix}/") for key in there}):
                obstore.delete(self._store, self._key(path))
            obstore.put(self._store, self._key(RECORD), bundle.record(complete=True))
        return Put(self._text, len(wanted))

    def close(self) -> None:
        """Nothing is held."""

    def _send(self, file: File) -> None:
        import obstore

        with self._telling():
            obstore.put(
                self._store,
                self._key(file.path),
                file.source,
                chunk_size=_part(file.size),
                max_concurrency=AT_ONCE,
            )
            meta = obstore.head(self._store, self._key(file.path))
        if not self._is_right(file, meta):
            raise ExportError(
                f"{self._text}: {file.path} arrived as something else than was sent, export it again"
            )

    def _is_right(self, file: File, meta: Any) -> bool:
        """Whether an object holds a file."""
        if meta is None or int(meta["size"]) != file.size:
            return False
        etag = str(meta.get("e_tag") or "").strip('"')
        return etag == _etag(file) or self._read_back(file) == file.sha256

    def _read_back(self, file: File) -> str:
        import obstore

        total = hashlib.sha256()
        with self._telling():
            for chunk in obstore.get(self._store, self._key(file.path)).stream(min_chunk_size=PART):
                total.update(memoryview(chunk))
        return total.hexdigest()

    def _record(self) -> dict[str, Any] | None:
        import obstore

        try:
            body = obstore.get(self._store, self._key(RECORD)).bytes()
        except FileNotFoundError:
            return None
        return read_record(bytes(body))

    def _listed(self) -> Iterator[Any]:
        import obstore

        for page in obstore.list(self._store, prefix=self._prefix):
            yield from page

    def _key(self, path: str) -> str:
        return f"{self._prefix}/{path}"

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What the store refuses, in words that are about writing."""
        try:
            with told(self._text):
                yield
        except Expired as error:
            raise ExportError(
                f"{error}; to write there give {CREDENTIALS[self._scheme]} in the environment"
            ) from None
        except FetchError as error:
            raise ExportError(str(error)) from None


def _part(size: int) -> int:
    return max(PART, math.ceil(size / MOST_PARTS))


def _etag(file: File) -> str:
    """What S3 calls an object that was sent so: the MD5, or that of its parts' MD5s."""
    part = _part(file.size)
    sums = []
    with file.source.open("rb") as source:
        while piece := source.read(part):
            sums.append(hashlib.md5(piece, usedforsecurity=False).digest())
    if file.size <= part:
        return hashlib.md5(b"", usedforsecurity=False).hexdigest() if not sums else sums[0].hex()
    return f"{hashlib.md5(b''.join(sums), usedforsecurity=False).hexdigest()}-{len(sums)}"
