"""Files in xet's storage, read by hf_xet: the hub's own way for big files, in pieces that many files share.

hf_xet runs in threads of its own and has hung before, so a stream is read by a thread beside ours, and who
waits for it waits no longer than for any other source. After any trouble with xet the rest comes over HTTP,
which every hub serves as well: there is no fault of xet's that ends a fetch. Its buffers are kept small,
since the engine reads many ranges at once.
"""

from __future__ import annotations

import importlib
import importlib.util
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from ..hidden import Secrets
from ..http_client import Document
from ..troubles import Expired, FetchError, Transient

STORAGES = ("https://", "http://")
_NEEDED = ("XetSession", "XetConfig", "XetDownloadStreamGroup", "XetObjectNotFoundError")
_FRESH_SECONDS = 60.0
_AHEAD = 4
"""pieces that may wait to be read"""
_CONFIG = {
    "telemetry.enabled": False,
    "reconstruction.min_reconstruction_fetch_size": 4_000_000,
    "reconstruction.max_reconstruction_fetch_size": 8_000_000,
    "reconstruction.download_buffer_size": 16_000_000,
    "reconstruction.download_buffer_perfile_size": 4_000_000,
    "reconstruction.download_buffer_limit": 32_000_000,
    "reconstruction.min_prefetch_buffer": 4_000_000,
    "client.ac_max_download_concurrency": 4,
    "client.retry_max_attempts": 1,
}
"""for each of the engine's connections: small, since they are many; trouble is ours to retry"""


def xet_is_usable(secrets: Secrets) -> bool:
    """Whether an hf_xet that reads ranges is installed, and nobody has switched it off."""
    off = (secrets.get("HF_HUB_DISABLE_XET") or "").upper() in ("1", "ON", "YES", "TRUE")
    if off or importlib.util.find_spec("hf_xet") is None:
        return False
    return all(hasattr(_library(), name) for name in _NEEDED)


class XetStorage:
    """The storage behind one commit; `ask_token` asks the hub to let us in."""

    def __init__(
        self, ask_token: Callable[[], Document], text: str, secrets: Secrets, *, stall: float
    ) -> None:
        self._ask_token = ask_token
        self._secrets = secrets
        self.stall = stall
        self._text = text
        self._lock = threading.Lock()
        self._group: Any = None
        self._fresh_until = 0.0
        self._session: Any = None
        self._broken = False

    def open(self, file_hash: str, size: int, start: int, stop: int | None) -> XetStream | None:
        """A stream of the bytes of a file; None once xet has failed."""
        if self._broken:
            return None
        return XetStream(self, file_hash, size, start, size if stop is None else stop, f"{self._text} (xet)")

    def chunks(self, file_hash: str, size: int, start: int, stop: int) -> Any:
        """What hf_xet gives for a range: an iterator that can be cancelled."""
        hf_xet = _library()
        group = self._opened_group(hf_xet)
        return group.download_stream(hf_xet.XetFileInfo(file_hash, size), start=start, end=stop)

    def give_up(self) -> None:
        """Read everything else over HTTP."""
        self._broken = True

    def _opened_group(self, hf_xet: Any) -> Any:
        with self._lock:
            if self._group is None or time.time() > self._fresh_until:
                where, token, expires = _storage_of(self._ask_token(), self._text)
                self._secrets.hide(token)
                if self._session is None:
                    self._session = hf_xet.XetSession(hf_xet.XetConfig().with_config(_CONFIG))
                self._group = self._session.new_download_stream_group(
                    endpoint=where, token=token, token_expiry_unix_secs=expires
                )
                self._fresh_until = max(expires - _FRESH_SECONDS, time.time() + 1)
            return self._group


class XetStream:
    """What `source.Reader` asks for, over a stream that may hang: xet is met in a thread of its own alone."""

    def __init__(
        self, storage: XetStorage, file_hash: str, size: int, start: int, stop: int, name: str
    ) -> None:
        self._storage = storage
        self._range = (file_hash, size, start, stop)
        self._missing = stop - start
        self._name = name
        self._queue: queue.Queue[bytes | BaseException | None] = queue.Queue(_AHEAD)
        self._left = memoryview(b"")
        self._closed = threading.Event()
        threading.Thread(target=self._pump, name="xet", daemon=True).start()

    def readinto(self, buffer: memoryview, /) -> int:
        """Copy what has arrived; Transient where xet fails or says nothing for too long."""
        if not self._left and not self._closed.is_set():
            self._left = memoryview(self._next())
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """Let the thread end; one that hangs ends with the process."""
        self._closed.set()

    def _next(self) -> bytes:
        try:
            got = self._queue.get(timeout=self._storage.stall)
        except queue.Empty:
            self._storage.give_up()
            raise Transient(f"{self._name}: nothing came for {self._storage.stall:.0f} s") from None
        if isinstance(got, BaseException):
            self._storage.give_up()
            raise Transient(f"{self._name}: the storage failed ({type(got).__name__})")
        if got is None:
            self._closed.set()
            return self._ended()
        self._missing -= len(got)
        return got

    def _ended(self) -> bytes:
        """Nothing more comes; a stream that ends early is a fault that xet does not tell."""
        if self._missing > 0:
            self._storage.give_up()
            raise Transient(f"{self._name}: the storage left out {self._missing} bytes")
        return b""

    def _pump(self) -> None:
        try:
            chunks = self._storage.chunks(*self._range)
            for chunk in chunks:
                if not self._put(bytes(chunk)):
                    chunks.cancel()
                    return
            self._put(None)
        except _errors() as error:
            self._put(error)

    def _put(self, item: bytes | BaseException | None) -> bool:
        """Hand something over; false once nobody reads any more."""
        if item == b"":
            return not self._closed.is_set()  # it would look like the end
        while not self._closed.is_set():
            try:
                self._queue.put(item, timeout=1)
            except queue.Full:
                continue
            return True
        return False


def _library() -> Any:
    return importlib.import_module("hf_xet")


def _errors() -> tuple[type[BaseException], ...]:
    """What hf_xet raises, and what we raise when the hub gives no token for it."""
    hf_xet = _library()
    own = (hf_xet.XetAuthenticationError, hf_xet.XetObjectNotFoundError)
    return (OSError, RuntimeError, ValueError, TypeError, AttributeError, FetchError, Transient, *own)


def _storage_of(answer: Document, text: str) -> tuple[str, str, int]:
    """Where the storage is, the token for it, and when that expires."""
    where = answer.headers.get("x-xet-cas-url", "")
    token = answer.headers.get("x-xet-access-token", "")
    expires = answer.headers.get("x-xet-token-expiration", "")
    if not where.startswith(STORAGES) or not token or not expires.isdigit():
        raise Expired(f"{text}: the hub names no storage for xet")
    return where, token, int(expires)
