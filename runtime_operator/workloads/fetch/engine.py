"""One fetch, from the address to the finished folder.

    lease    one process a target; who comes second finds the work done
    list     what is there, what of it is wanted, which names may be written
    compare  the same listing and an undamaged folder: nothing is fetched
    move     what an earlier run or the old folder has is taken over, the rest is fetched and verified
    cut      of a dataset of which only some rows are wanted, those
    finish   MANIFEST.json, then the folder appears at the target

Whatever ends it, the work folder is such that the next run goes on from there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

from ...errors import KfpTrainerError, Retryable, SpecError
from .collect import Collector
from .connections import Limits
from .hidden import Secrets
from .journal import Journal
from .lease import Lease
from .manifest import FileFact, Manifest, damaged, entry_key, listing_digest, read_manifest, total_of
from .moving import Mover, can_be_known
from .names import MANIFEST, check_name, check_together
from .order import Fetched, Order
from .pace import Pace, patiently
from .part import DiskTrouble
from .place import Place
from .progress import Report
from .schemes import check_scheme, open_source
from .selection import choose
from .slicing import check_libraries, check_shard, cut_rows, of_the_split
from .source import Entry, Listing, Request, Source
from .space import disk_trouble
from .troubles import Changed, FetchError
from .uri import parse_uri

_LISTINGS = 3


def fetch(order: Order, *, secrets: Secrets, report: Report, pace: Pace) -> Fetched:
    """Fetch; the error of a failure holds no secret."""
    try:
        return _Fetch(order, secrets, report, pace).run()
    except DiskTrouble as error:
        raise disk_trouble(order.target, error.cause) from None
    except OSError as error:  # a source's own are Transient by now
        raise disk_trouble(order.target, error) from None
    except KfpTrainerError as error:
        raise cleaned(error, secrets) from None


class _Fetch:
    def __init__(self, order: Order, secrets: Secrets, report: Report, pace: Pace) -> None:
        self._order, self._report, self._pace = order, report, pace
        self._secrets = secrets
        self._uri = parse_uri(order.uri, secrets)
        check_scheme(self._uri.scheme)
        self._place = Place(order.target)
        self._began, self._clock = datetime.now(UTC), monotonic()
        self._limits = Limits(stall=pace.patience.stall)
        self._received = 0
        self._rows = order.selection.rows

    def run(self) -> Fetched:
        """Do it all, as the only process that does."""
        if self._rows is not None:
            check_libraries()
        self._place.prepare()
        with Lease(self._place.lock, rest=self._pace.rest, waiting=self._report.waiting) as lease:
            self._finish_move()
            old = read_manifest(self._place.target)
            try:
                manifest = self._bring(old)
            except BaseException:
                self._place.leave()
                raise
            if manifest is old:
                self._place.discard_work()
            else:
                manifest.write(self._place.tree if self._rows is None else self._place.sliced)
                lease.check()
                self._place.publish(file.path for file in manifest.files)
        result = Fetched(self._place.target, manifest, self._received, monotonic() - self._clock)
        self._report.end(result)
        return result

    def _finish_move(self) -> None:
        """Finish what an earlier run had only to move in."""
        self._place.make()
        if self._place.was_moving and (finished := read_manifest(self._place.finished)) is not None:
            self._place.publish(file.path for file in finished.files)
            self._place.make()

    def _bring(self, old: Manifest | None) -> Manifest:
        request = Request(
            self._uri,
            self._order.kind,
            self._order.selection,
            self._secrets,
            self._place.scratch,
            self._limits,
        )
        source = open_source(request)
        try:
            for _ in range(_LISTINGS - 1):
                try:
                    return self._bring_listed(source, old)
                except Changed:
                    continue
            try:
                return self._bring_listed(source, old)
            except Changed as change:
                raise Retryable(f"{change}, again and again; fetch it when it is at rest", after=60) from None
        finally:
            source.close()

    def _bring_listed(self, source: Source, old: Manifest | None) -> Manifest:
        """The manifest of what is listed now: the old one where its folder is still that."""
        listing = patiently(source.resolve, renew=source.renew, pace=self._pace, name=self._uri.text)
        wanted = self._wanted(listing)
        keys = {entry.path: entry_key(entry, self._uri.text) for entry in wanted}
        digest = listing_digest(keys.values(), self._order.selection)
        good = self._undamaged(old)
        comparable = all(can_be_known(entry) for entry in wanted)
        same = old is not None and old.source == self._uri.text and old.listing == digest and comparable
        if old is not None and same and len(good) == len(old.files):
            return old
        if self._rows is not None:
            check_shard(self._place.target, old, self._uri.text, self._rows)
        self._place.check_foreign({file.path for file in old.files} if old else ())
        journal = Journal(self._place.journal)
        try:
            collector = self._collect(source, wanted, keys, good, journal)
        finally:
            journal.close()
        whole = self._manifest(listing, digest, collector)
        if self._rows is None:
            return whole
        return cut_rows(self._place.tree, self._place.sliced, whole, self._rows)

    def _collect(
        self,
        source: Source,
        wanted: list[Entry],
        keys: dict[str, str],
        good: dict[str, FileFact],
        journal: Journal,
    ) -> Collector:
        collector = Collector(self._place, journal, self._order.selection, source=self._uri.text)
        mover = Mover(
            self._place,
            journal,
            collector,
            self._pace,
            self._report,
            self._limits,
            again=self._rows is not None,
        )
        for entry in wanted:
            collector.check_free(entry.path)
        mover.take_over(wanted, keys, good, self._place.target)
        try:
            mover.move(source, wanted, keys, name=self._uri.text, connections=self._order.connections)
        finally:
            self._received += mover.received
        if any(entry.unpack for entry in wanted):
            shown = self._uri.text
            kept = choose(list(collector.files), self._order.selection, path=str, source=shown)
            collector.keep(set(kept))
        mover.remove_strangers(source=self._uri.text)
        return collector

    def _wanted(self, listing: Listing) -> list[Entry]:
        """The entries to fetch; archives are weighed by their members, once those are known."""
        shown = self._uri.text
        entries = [entry for entry in listing.entries if entry.path != MANIFEST]
        archives = [entry for entry in entries if entry.unpack is not None]
        plain = [entry for entry in entries if entry.unpack is None]
        if plain or not archives:
            plain = choose(plain, self._order.selection, path=lambda entry: entry.path, source=shown)
        if self._rows is not None:
            plain = of_the_split(plain, self._rows, source=shown)
        for entry in (*archives, *plain):
            check_name(entry.path, entry.what, source=shown)
        check_together((entry.path for entry in plain), source=shown)
        return [
            entry if can_be_known(entry) else replace(entry, seekable=False) for entry in (*archives, *plain)
        ]

    def _undamaged(self, old: Manifest | None) -> dict[str, FileFact]:
        if old is None:
            return {}
        bad = {
            file.path for file in damaged(self._place.target, old.files, every_byte=self._order.every_byte)
        }
        return {file.path: file for file in old.files if file.path not in bad}

    def _manifest(self, listing: Listing, digest: str, collector: Collector) -> Manifest:
        files = tuple(collector.files[path] for path in sorted(collector.files))
        tree, size = total_of(files)
        left_out = [MANIFEST] if any(entry.path == MANIFEST for entry in listing.entries) else []
        return Manifest(
            source=self._uri.text,
            kind=self._order.kind,
            revision=self._secrets.clean(listing.revision),
            digest=tree,
            bytes=size,
            listing=digest,
            selection=self._order.selection.describe(),
            started=self._began.isoformat(timespec="seconds"),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            left_out=tuple(left_out),
            files=files,
        )


def cleaned(error: KfpTrainerError, secrets: Secrets) -> KfpTrainerError:
    """The same error without what is secret."""
    text = secrets.clean(str(error))
    if text == str(error):
        return error
    if isinstance(error, SpecError):
        return SpecError(text)
    if isinstance(error, Retryable):
        return Retryable(text, after=error.after)
    kind = FetchError if isinstance(error, FetchError) else type(error)
    return kind(text)
