"""One fetch a target at a time, among pods that share nothing but the volume.

flock does not reach from node to node on every shared filesystem, so the lock is a file that is made by
`link`, which is atomic on NFS too. Its owner counts up in it; who waits takes the lock when the count has
stood still for `STALE_SECONDS` of its own clock, since clocks of nodes differ. An owner that died on this
very machine and in this pid namespace is seen to be dead at once.

An owner that slept longer than that finds another's name in the file at its next beat and before it
publishes, and gives up. What it may still write meanwhile are the same bytes at the same places, because a
part's file is named by what the source says the file is.
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ...errors import Retryable
from .journal import boot_id

BEAT_SECONDS = 5.0
STALE_SECONDS = 45.0
LOOK_SECONDS = 0.5
_LITTER_SECONDS = 86_400.0


class LeaseLost(Retryable):
    """Somebody else took the target over, because we had not been heard of for too long."""


class Lease:
    """The right to write a target, held while the block runs."""

    def __init__(
        self,
        file: Path,
        *,
        rest: Callable[[float], None],
        waiting: Callable[[str], None],
        stale: float = STALE_SECONDS,
        beat: float = BEAT_SECONDS,
    ) -> None:
        self._file, self._rest, self._waiting = file, rest, waiting
        self._stale, self._beat = stale, beat
        self._token = secrets.token_hex(8)
        self._own = file.with_name(f"{file.name}.{self._token}")
        self._count = 0
        self._is_link = True
        self._lost = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Lease:
        try:
            self._write()
            self._acquire()
        except BaseException:
            self._own.unlink(missing_ok=True)
            raise
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._sweep()
        if self._is_mine():
            self._file.unlink(missing_ok=True)
        self._own.unlink(missing_ok=True)

    def check(self) -> None:
        """LeaseLost where the target is somebody else's by now."""
        if self._lost.is_set() or not self._is_mine():
            raise LeaseLost(
                f"{self._file.name}: another process took the target over, this one had been still for "
                f"{self._stale:.0f} s; it is being fetched there",
                after=self._stale,
            )

    def _acquire(self) -> None:
        seen, since, told = "", time.monotonic(), ""
        while not self._link():
            content = self._read()
            if content is None:
                continue
            now = time.monotonic()
            if content != seen:
                seen, since = content, now
            holder = _holder(content)
            if now - since >= self._stale or _is_dead(holder):
                self._evict(content)
                self._sweep()
                continue
            name = str(holder.get("host") or "another process")
            if name != told:
                self._waiting(name)
                told = name
            self._rest(LOOK_SECONDS)

    def _link(self) -> bool:
        try:
            os.link(self._own, self._file)
        except FileExistsError:
            return (
                os.stat(self._own).st_nlink == 2
            )  # NFS: done, though the answer was lost and asked for again
        except OSError:
            return self._make_exclusively()
        return True

    def _make_exclusively(self) -> bool:
        """For filesystems without hard links."""
        try:
            fd = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            return False
        os.write(fd, self._content().encode())
        os.close(fd)
        self._is_link = False
        return True

    def _evict(self, content: str) -> None:
        """Take a dead owner's file away; put it back if it turns out to be another's."""
        away = self._file.with_name(f"{self._file.name}.{self._token}.old")
        try:
            os.rename(self._file, away)
        except FileNotFoundError:
            return
        if away.read_text(encoding="utf-8", errors="replace") != content:
            with suppress(OSError):
                os.link(away, self._file)
        away.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what processes left that were killed while they held or awaited the lease."""
        for path in self._file.parent.glob(f"{glob.escape(self._file.name)}.*"):
            try:
                left = _holder(path.read_text(encoding="utf-8", errors="replace"))
                age = time.time() - path.stat().st_mtime
            except OSError:
                continue
            if path != self._own and (_is_dead(left) or age > _LITTER_SECONDS):
                path.unlink(missing_ok=True)

    def _keep(self) -> None:
        while not self._ended.wait(self._beat):
            try:
                if not self._is_mine():
                    self._lost.set()
                    return
                self._write()
            except OSError:  # a full disk or a slow server: the next beat tries again
                continue

    def _write(self) -> None:
        """Count up, in place: the file keeps its links."""
        self._count += 1
        with self._own.open("r+" if self._own.exists() else "w", encoding="utf-8") as file:
            file.write(self._content())
        if not self._is_link:
            with suppress(FileNotFoundError), self._file.open("r+", encoding="utf-8") as file:
                file.write(self._content())

    def _content(self) -> str:
        owner = {"token": self._token, "count": f"{self._count:09d}", **_myself()}
        return json.dumps(owner)

    def _is_mine(self) -> bool:
        content = self._read()
        return content is not None and _holder(content).get("token") == self._token

    def _read(self) -> str | None:
        try:
            return self._file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None


def _holder(content: str) -> dict[str, object]:
    try:
        holder = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _myself() -> dict[str, object]:
    pid = os.getpid()
    return {
        "host": os.uname().nodename,
        "boot": boot_id(),
        "namespace": _pid_namespace(),
        "pid": pid,
        "began": _began(pid),
    }


def _is_dead(holder: dict[str, object]) -> bool:
    """Whether the owner was a process that we could see, and do not."""
    here = _myself()
    if not here["namespace"] or any(holder.get(name) != here[name] for name in ("boot", "namespace")):
        return False
    pid = holder.get("pid")
    return isinstance(pid, int) and _began(pid) != holder.get("began")


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _began(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty where there is none or it is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
