"""Brings the wanted files into the tree: what is there already is taken over, the rest is fetched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from .collect import Collector
from .connections import Limits
from .hashing import hash_file
from .journal import Journal
from .manifest import FileFact
from .pace import Pace
from .part import Part
from .pieces import cut
from .place import Place
from .progress import Progress, Report
from .source import Entry, Source
from .space import check_space
from .transfer import Transfer
from .troubles import FetchError

_SYNC_SECONDS = 30.0


class Mover:
    """Fills the tree of one fetch."""

    def __init__(
        self,
        place: Place,
        journal: Journal,
        collector: Collector,
        pace: Pace,
        report: Report,
        limits: Limits,
        *,
        again: bool,
    ) -> None:
        self._place, self._journal, self._collector = place, journal, collector
        self._pace, self._report, self._limits = pace, report, limits
        self._again = again
        """whether rows are written once more, when they are cut"""
        self._synced = monotonic()
        self.received = 0
        """bytes that came from the source"""

    def take_over(
        self, wanted: Sequence[Entry], keys: dict[str, str], old: dict[str, FileFact], folder: Path
    ) -> None:
        """Link what the folder that is to be replaced holds already."""
        for entry in wanted:
            fact = old.get(entry.path)
            if fact is not None and fact.key == keys[entry.path] and can_be_known(entry):
                self._collector.adopt(fact, entry, folder)

    def move(
        self, source: Source, wanted: Sequence[Entry], keys: dict[str, str], *, name: str, connections: int
    ) -> None:
        """Fetch what is not there yet."""
        missing = [entry for entry in wanted if not self._is_known(entry, keys[entry.path])]
        there = sum(self._part(entry, keys[entry.path]).extents.total for entry in missing)
        needed = sum((entry.size or 0) * (2 if entry.unpack or self._again else 1) for entry in missing)
        check_space(self._place.work, needed=needed - there, files=len(missing))
        total = sum(entry.size or 0 for entry in wanted)
        still = sum(entry.size or 0 for entry in missing) - there
        progress = Progress(total=total, done=total - still, files=len(missing))

        def moved(count: int) -> None:
            progress.add(count)
            self.received += max(count, 0)

        def whole(part: Part, size: int, sha256: str) -> None:
            self._collector.take(part, size, sha256)
            progress.file_done()

        sizes = cut(still, connections)
        self._limits.receive_buffer = sizes.ahead
        parts = (self._part(entry, keys[entry.path]) for entry in missing)  # each when its turn comes
        transfer = Transfer(source, parts, cut=sizes, pace=self._pace, whole=whole, moved=moved)
        self._report.begin(name, progress)
        transfer.run(
            min(connections, max(1, len(missing) + still // (8 << 20))),
            tick=lambda: self._tick(transfer, progress),
        )

    def remove_strangers(self, *, source: str) -> None:
        """Remove what an earlier run with another listing has left in the tree, and miss nothing there.

        A disk that does not tell `A` from `a` keeps one file of two.
        """
        root = os.fspath(self._place.tree)
        missed = set(self._collector.files)
        for folder, _, files in os.walk(root):
            above = f"{folder[len(root) + 1 :]}/" if folder != root else ""
            for name in files:
                if above + name not in self._collector.files:
                    os.unlink(os.path.join(folder, name))
                missed.discard(above + name)
        if missed:
            raise FetchError(
                f"{source}: this disk does not tell the name {min(missed)!a} from another file's, "
                "give a folder on one that does"
            )

    def _is_known(self, entry: Entry, key: str) -> bool:
        return can_be_known(entry) and self._collector.known(entry, key, believe=hash_file)

    def _part(self, entry: Entry, key: str) -> Part:
        return Part(entry, key, self._place.parts / key, self._journal)

    def _tick(self, transfer: Transfer, progress: Progress) -> None:
        """Tell how far it is, and now and then bring to the disk what has been written."""
        self._report.tick(progress)
        if monotonic() - self._synced >= _SYNC_SECONDS:
            position = self._journal.position()
            for part in list(transfer.active.values()):
                part.sync()
            self._journal.synced(position)
            self._synced = monotonic()


def can_be_known(entry: Entry) -> bool:
    """Whether the source says enough of a file to tell that it is still the same."""
    return entry.digest is not None or bool(entry.etag)
