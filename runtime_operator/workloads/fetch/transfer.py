"""Moves bytes: some threads, each with one buffer, take pieces in order until all files are whole.

    a piece fails      the same thread goes on behind its last byte, after `Pace` has let it wait
    a file is whole    the thread that put its last piece in place verifies it and hands it on
    a digest is wrong  the file is fetched once more from its first byte; wrong again ends the fetch
    anything final     ends all threads; what was written stays for the next run

The source sees at most one open request a thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from .pace import Pace, Stopped
from .part import DiskTrouble, Part
from .pieces import Cut, Piece, pieces_of
from .source import Reader, Source
from .troubles import Changed, Expired, FetchError, Transient

_FLUSH_SECONDS = 1.0
_TICK_SECONDS = 0.25
_END_SECONDS = 2.0
"""what threads get to write what they hold, when the process is asked to end"""


class Transfer:
    """One set of files on its way."""

    def __init__(
        self,
        source: Source,
        parts: Iterable[Part],
        *,
        cut: Cut,
        pace: Pace,
        whole: Callable[[Part, int, str], None],
        moved: Callable[[int], None],
    ) -> None:
        self._source, self._cut, self._pace = source, cut, pace
        self._whole, self._moved = whole, moved
        self._again: deque[Piece] = deque()
        self._pending: dict[str, int] = {}
        self._retried: set[str] = set()
        self._pieces = self._in_order(parts)
        self._lock = threading.Lock()
        self._access = Access(source)
        self.failure: BaseException | None = None
        self.active: dict[str, Part] = {}
        """the parts that are being written, by key"""

    def run(self, connections: int, *, tick: Callable[[], None]) -> None:
        """Move everything, and call `tick` now and then on the caller's own thread."""
        threads = [
            threading.Thread(target=self._work, name=f"fetch-{number}", daemon=True)
            for number in range(connections)
        ]
        for thread in threads:
            thread.start()
        try:
            while alive := [thread for thread in threads if thread.is_alive()]:
                alive[0].join(timeout=_TICK_SECONDS)
                tick()
        except BaseException:
            self._pace.end()
            enough = time.monotonic() + _END_SECONDS
            for thread in threads:
                thread.join(timeout=max(0.0, enough - time.monotonic()))
            raise
        if self.failure is not None:
            self._pace.go_on()
            raise self.failure

    def _work(self) -> None:
        buffer = memoryview(bytearray(self._cut.buffer))
        try:
            while (piece := self._next()) is not None:
                self._move(piece, buffer)
                if self._is_last(piece):
                    self._finish(piece, buffer)
        except Stopped:
            return
        except BaseException as error:  # noqa: BLE001 - it is raised again where the fetch was started
            with self._lock:
                self.failure = self.failure or error
            self._pace.stop.set()

    def _next(self) -> Piece | None:
        with self._lock:
            if self._pace.stop.is_set():
                raise Stopped
            return self._again.popleft() if self._again else next(self._pieces, None)

    def _in_order(self, parts: Iterable[Part]) -> Iterator[Piece]:
        """The pieces of all parts."""
        for part in parts:
            pieces = pieces_of(part, self._cut.piece)
            self._pending[part.key] = len(pieces)
            self.active[part.key] = part
            yield from pieces

    def _is_last(self, piece: Piece) -> bool:
        key = piece.part.key
        with self._lock:
            self._pending[key] -= 1
            if self._pending[key]:
                return False
            del self._pending[key]
            return True

    def _move(self, piece: Piece, buffer: memoryview) -> None:
        """Fetch a piece, however often it breaks, as long as waiting is some use."""
        tries, denied = 0, False
        while piece.stop is None or piece.at < piece.stop:
            before, generation = piece.at, self._access.generation
            try:
                self._pace.begin()
                self._copy(piece, buffer)
                return
            except (Changed, DiskTrouble):
                raise
            except Expired:
                if denied and piece.at == before:
                    raise
                denied = True
                self._access.renew(generation)
            except Transient as trouble:
                tries = 1 if piece.at > before else tries + 1
                self._wait(piece, trouble, tries)
            except OSError as error:
                tries = 1 if piece.at > before else tries + 1
                self._wait(piece, _as_transient(piece, error), tries)

    def _wait(self, piece: Piece, trouble: Transient, tries: int) -> None:
        if not piece.part.entry.seekable or piece.stop is None:
            self._moved(-piece.at)
            piece.part.begin_anew()
            piece.at = 0
        self._pace.after(trouble, tries)

    def _copy(self, piece: Piece, buffer: memoryview) -> None:
        """Read what is missing of a piece; what has come is written even where it breaks."""
        part, filled = piece.part, 0
        buffer = buffer[: self._cut.held(piece)]
        with closing(self._source.open(part.entry, piece.at, piece.stop)) as reader:
            watch = Watchdog(self._pace, part)
            try:
                while piece.stop is None or piece.at + filled < piece.stop:
                    count = self._read(reader, piece, buffer, filled)
                    if not count:
                        break
                    filled += count
                    if watch.seen(count) or filled == len(buffer):
                        filled = self._flush(piece, buffer, filled)
            finally:
                self._flush(piece, buffer, filled)
        if piece.stop is not None and piece.at < piece.stop:
            left = piece.stop - piece.at
            raise Transient(f"{part.entry.path}: the source ended {left} bytes too early")
        part.hash_on(buffer)

    def _read(self, reader: Reader, piece: Piece, buffer: memoryview, filled: int) -> int:
        if self._pace.stop.is_set():
            raise Stopped
        room = len(buffer) - filled
        if piece.stop is not None:
            room = min(room, piece.stop - piece.at - filled)
        return reader.readinto(buffer[filled : filled + room]) or 0

    def _flush(self, piece: Piece, buffer: memoryview, filled: int) -> int:
        if filled:
            alone = piece.at == 0 and piece.stop == filled == piece.part.entry.size
            piece.part.write(buffer[:filled], piece.at, note=not alone)
            piece.at += filled
            self._moved(filled)
        return 0

    def _finish(self, piece: Piece, buffer: memoryview) -> None:
        part = piece.part
        size = part.entry.size if part.entry.size is not None else piece.at
        part.hash_on(buffer, wait=True)
        sha256 = part.verify(size)
        if sha256 is not None:
            part.close()
            self.active.pop(part.key, None)
            self._whole(part, size, sha256)
            return
        part.begin_anew()
        self._moved(-size)
        if part.key in self._retried:
            raise FetchError(_wrong(part))
        with self._lock:
            self._retried.add(part.key)
            again = pieces_of(part, self._cut.piece)
            self._pending[part.key] = len(again)
            self._again.extend(again)


class Access:
    """The right to read, renewed once for all threads that found it expired."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = threading.Lock()
        self.generation = 0

    def renew(self, generation: int) -> None:
        """Renew, unless another thread has done so since `generation`."""
        with self._lock:
            if self.generation == generation:
                self._source.renew()
                self.generation += 1


class Watchdog:
    """Tells when to write what has come, and breaks off what only trickles."""

    def __init__(self, pace: Pace, part: Part) -> None:
        self._patience, self._part = pace.patience, part
        self._flushed = self._began = time.monotonic()
        self._bytes = 0

    def seen(self, count: int) -> bool:
        """Count bytes; whether it is time to write."""
        now = time.monotonic()
        self._bytes += count
        if now - self._began >= self._patience.stall:
            if self._bytes < self._patience.stall * self._patience.least_rate:
                raise Transient(
                    f"{self._part.entry.path}: only {self._bytes} bytes came in {now - self._began:.0f} s"
                )
            self._began, self._bytes = now, 0
        if now - self._flushed < _FLUSH_SECONDS:
            return False
        self._flushed = now
        return True


def _as_transient(piece: Piece, error: OSError) -> Transient:
    what = (
        "nothing came any more"
        if isinstance(error, TimeoutError)
        else f"it broke ({error.strerror or error})"
    )
    return Transient(f"{piece.part.entry.path}: {what}")


def _wrong(part: Part) -> str:
    promised = part.entry.digest
    return (
        f"{part.entry.path}: its bytes do not hash to what the source promises ({promised}), twice; "
        "they are not kept; the file is damaged there or on the way"
    )
