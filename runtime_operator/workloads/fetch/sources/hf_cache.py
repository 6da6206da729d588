"""The Hugging Face cache of this machine: what it holds already is copied from there and not fetched.

A blob in the cache bears the digest of its contents as its name. It is believed only after it has been
hashed: a cache on a shared volume may hold the remains of somebody's crash.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from ..hidden import Secrets
from ..source import Entry, Reader
from .hf_address import HubAddress

_PIECE = 1 << 20


class HubCache:
    """The blobs of one repository."""

    def __init__(self, address: HubAddress, secrets: Secrets) -> None:
        name = "--".join((f"{address.kind}s", *address.repo.split("/")))
        self._blobs = _hub_cache(secrets) / name / "blobs"
        self._judged: dict[Path, bool] = {}
        self._locks: dict[Path, threading.Lock] = {}
        self._guard = threading.Lock()

    def open(self, entry: Entry, start: int) -> Reader | None:
        """The file from `start` on, if the cache holds it whole."""
        if entry.digest is None:
            return None
        blob = self._blobs / entry.digest.value
        try:
            if blob.stat().st_size != entry.size or not self._is_right(blob, entry):
                return None
            file = blob.open("rb", buffering=0)
        except OSError:
            return None
        file.seek(start)
        return file

    def _is_right(self, blob: Path, entry: Entry) -> bool:
        """Whether the blob is what its name says; hashed once, whoever asks first."""
        with self._guard:
            lock = self._locks.setdefault(blob, threading.Lock())
        with lock:
            if blob not in self._judged:
                self._judged[blob] = _digest(blob, entry) == (entry.digest and entry.digest.value)
            return self._judged[blob]


def hub_home(secrets: Secrets) -> Path:
    """The folder that huggingface_hub calls HF_HOME."""
    cache = secrets.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(secrets.get("HF_HOME") or f"{cache}/huggingface").expanduser()


def _hub_cache(secrets: Secrets) -> Path:
    given = secrets.get("HF_HUB_CACHE") or secrets.get("HUGGINGFACE_HUB_CACHE")
    return Path(given).expanduser() if given else hub_home(secrets) / "hub"


def _digest(blob: Path, entry: Entry) -> str:
    if entry.digest is not None and entry.digest.kind == "git-sha1":
        total = hashlib.sha1(b"blob %d\0" % (entry.size or 0), usedforsecurity=False)
    else:
        total = hashlib.sha256()
    with blob.open("rb") as file:
        while piece := file.read(_PIECE):
            total.update(piece)
    return total.hexdigest()
