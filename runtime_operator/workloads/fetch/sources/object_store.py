"""s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX: all objects below a prefix, or one object.

obstore lists, finds credentials and signs (docs/decisions/006-object-stores.md). The bytes come over our
own HTTP from signed addresses, so that ranges, time limits, Retry-After and validators are the same as
everywhere; where nothing can sign (a borrowed token of gs:// or az://), obstore reads them too.

An ETag that is an MD5 is compared with the bytes. One of a multipart upload is not, nor one of an encrypted
object: those are held against each answer, so that parts of two versions are never mixed.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from ....errors import SetupError, SpecError
from ..http_client import Http
from ..source import Digest, Entry, Listing, Reader, Request
from .object_store_reader import Streamed, told
from .object_store_settings import make_store

_SIGNED_FOR = timedelta(hours=1)
_MD5 = re.compile(r'"?([0-9a-f]{32})"?')
_PAGE = 1000


def open_source(request: Request) -> Objects:
    """The objects of an address."""
    try:
        import obstore  # noqa: F401
    except ImportError:
        raise SetupError(
            f"{request.uri.scheme}://: needs obstore, which is not here; pip install 'kfp-trainer[fetch]'"
        ) from None
    if not request.uri.host:
        raise SpecError(f"{request.uri.text}: names no bucket, give {request.uri.scheme}://BUCKET/PREFIX")
    return Objects(request)


class Objects:
    """A bucket."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._text = request.uri.text
        self._prefix = unquote(request.uri.path)
        self._http = Http(request.secrets, limits=request.limits)
        self._lock = threading.Lock()
        self._store, self._signs = make_store(request)
        self._addresses: dict[str, str] = {}
        self._encrypted: bool | None = None

    def resolve(self) -> Listing:
        """List the objects; the revision is a digest of keys, sizes and etags."""
        with told(self._text):
            entries = tuple(self._entries())
        total = hashlib.sha256()
        for entry in entries:
            total.update(f"{entry.path}\0{entry.size}\0{entry.etag}\n".encode())
        return Listing(f"objects-{total.hexdigest()[:16]}", entries)

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """Open a part of an object."""
        key = str(entry.handle)
        address = self._address(key)
        if address is None:
            with told(self._text):
                return Streamed(self._store, key, start, stop, entry.etag, text=self._text)
        return self._http.open_range(address, start, stop, etag=entry.etag, size=entry.size)

    def renew(self) -> None:
        """Sign anew, with credentials that are looked for anew."""
        with self._lock:
            self._addresses.clear()
            self._store, self._signs = make_store(self._request)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _entries(self) -> Iterator[Entry]:
        import obstore

        folder = self._prefix.rstrip("/")
        found = False
        for page in obstore.list(self._store, prefix=folder or None, chunk_size=_PAGE):
            for meta in page:
                key = str(meta["path"])
                path = key[len(folder) :].removeprefix("/") if folder else key
                if not path or key == self._prefix or key.endswith("/"):
                    continue
                found = True
                yield self._entry(path, key, meta)
        if not found and folder:
            yield self._entry(folder.rpartition("/")[2], folder, obstore.head(self._store, folder))

    def _entry(self, path: str, key: str, meta: Any) -> Entry:
        etag = str(meta.get("e_tag") or "")
        md5 = _MD5.fullmatch(etag) if self._request.uri.scheme == "s3" else None
        digest = Digest("md5", md5.group(1)) if md5 and not self._is_encrypted(key) else None
        return Entry(path, int(meta["size"]), digest=digest, etag=etag, handle=key)

    def _is_encrypted(self, key: str) -> bool:
        """Whether ETags of this bucket are no MD5s, as the headers of its first such object tell."""
        if self._encrypted is None:
            address = self._address(key)
            self._encrypted = False
            if address is not None:
                with self._http.open_range(address, 0, None) as body:
                    self._encrypted = "kms" in body.header("x-amz-server-side-encryption")
        return self._encrypted

    def _address(self, key: str) -> str | None:
        """A signed address of an object; None where nothing here can sign."""
        import obstore
        from obstore.exceptions import BaseError

        if not self._signs:
            return None
        with self._lock:
            address, store = self._addresses.get(key), self._store
        if address is None:
            try:
                address = obstore.sign(store, "GET", key, _SIGNED_FOR)
            except (BaseError, ValueError):  # a borrowed token cannot sign, though it can read
                self._signs = False
                return None
            with self._lock:
                self._addresses[key] = address
        return address
