"""Takes what is whole into the tree: a verified file by a rename, an archive by its members.

An archive is taken apart only when its own digest is right. Its members' names are checked as any others,
they pass the same selection, and they are written beside the tree and renamed into it. The list of members
is kept until the end, so that a run that is broken off does not fetch the archive again.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Callable, Generator
from pathlib import Path

from .hashing import CHUNK, Hashes
from .journal import Done, Journal, Record
from .manifest import FileFact
from .names import MANIFEST, check_name
from .part import DiskTrouble, Part, our_disk
from .place import Place
from .selection import Selection
from .source import Entry, Member, Reader
from .troubles import FetchError


class Collector:
    """The files that are whole, by path."""

    def __init__(self, place: Place, journal: Journal, selection: Selection, *, source: str) -> None:
        self._place, self._journal, self._selection, self._source = place, journal, selection, source
        self._lock = threading.Lock()
        self._root = os.fspath(place.tree)
        self._folders: set[str] = {self._root}
        self.files: dict[str, FileFact] = {}

    def take(self, part: Part, size: int, sha256: str) -> None:
        """Take in a part whose bytes have been verified."""
        if part.entry.unpack is not None:
            self._take_apart(part.entry, part.key, part.file)
            return
        path = self._into_tree(part.file, part.entry.path)
        fact = self._fact(part.entry, part.key, path, sha256)
        try:
            self._journal.done(part.key, Done(sha256, size, fact.mtime_ns))
        except OSError as error:
            raise DiskTrouble(error) from None
        self._add(fact)

    def known(self, entry: Entry, key: str, *, believe: Callable[[Path], str]) -> bool:
        """Whether an earlier run has taken this entry in; doubtful files are hashed by `believe`."""
        if entry.unpack is not None:
            return self._known_members(key)
        record = self._journal.records.get(key)
        if record is None or record.done is None:
            return False
        done, path = record.done, self._place.tree / entry.path
        try:
            found = os.lstat(path)
        except OSError:
            return False
        if found.st_size != done.size or path.is_symlink():
            return False
        if not (done.sure and found.st_mtime_ns == done.mtime_ns) and believe(path) != done.sha256:
            return False
        self._add(self._fact(entry, key, path, done.sha256))
        return True

    def adopt(self, fact: FileFact, entry: Entry, old: Path) -> None:
        """Take a file over from the folder that is to be replaced, if links are possible here."""
        path = self._place.tree / fact.path
        self._make_folder(os.fspath(path.parent))
        path.unlink(missing_ok=True)
        try:
            os.link(old / fact.path, path, follow_symlinks=False)
        except OSError:
            return
        taken = self._fact(entry, fact.key, path, fact.sha256)
        done = Done(fact.sha256, fact.size, taken.mtime_ns)
        self._journal.done(fact.key, done)
        self._journal.records.setdefault(fact.key, Record()).done = done

    def check_free(self, path: str) -> None:
        """Refuse a name that fetching needs itself, where its work lies in the target."""
        if self._place.reserves(path):
            raise FetchError(
                f"{self._source}: the name {path!a} is one that fetching into a mount point needs itself; "
                "leave it out by --ignore"
            )

    def keep(self, paths: set[str]) -> None:
        """Forget all files but these."""
        self.files = {path: fact for path, fact in self.files.items() if path in paths}

    def _take_apart(self, entry: Entry, key: str, archive: Path) -> None:
        assert entry.unpack is not None
        facts: list[FileFact] = []
        members = entry.unpack(archive)
        try:
            for member in members:
                if (fact := self._take_member(member, entry, key)) is not None:
                    facts.append(fact)
        except (EOFError, ValueError, zlib.error) as error:
            raise FetchError(f"{self._source}: the archive {entry.path} cannot be read ({error})") from None
        finally:
            if isinstance(members, Generator):  # close the archive, whatever has happened
                members.close()
        part = self._members_file(key).with_suffix(".part")
        part.write_text(json.dumps([fact.document() for fact in facts]), encoding="utf-8")
        os.replace(part, self._members_file(key))
        archive.unlink(missing_ok=True)
        for fact in facts:
            self._add(fact)

    def _take_member(self, member: Member, archive: Entry, key: str) -> FileFact | None:
        try:
            if member.path == MANIFEST or not self._selection.matches(member.path):
                return None
            check_name(member.path, member.what, source=self._source)
            self.check_free(member.path)
            assert member.reader is not None
            sha256 = self._copy(member.reader, part := self._place.parts / f"{key}.member")
        finally:
            if member.reader is not None:
                member.reader.close()
        path = self._into_tree(part, member.path)
        found, promised = os.stat(path), str(archive.digest or "")
        return FileFact(member.path, found.st_size, sha256, found.st_mtime_ns, key, promised)

    def _copy(self, reader: Reader, file: Path) -> str:
        """Write a member, and say what it hashes to."""
        hashes, buffer = Hashes(None, None), memoryview(bytearray(CHUNK))
        with our_disk(), file.open("wb") as out:
            while count := reader.readinto(buffer):
                out.write(buffer[:count])
                hashes.update(buffer[:count])
        return hashes.sha256

    def _known_members(self, key: str) -> bool:
        try:
            facts = [
                FileFact(**fact) for fact in json.loads(self._members_file(key).read_text(encoding="utf-8"))
            ]
        except (OSError, ValueError, TypeError):
            return False
        for fact in facts:
            path = self._place.tree / fact.path
            if not path.is_file() or path.stat().st_mtime_ns != fact.mtime_ns:
                return False
        for fact in facts:
            self._add(fact)
        return True

    def _members_file(self, key: str) -> Path:
        return self._place.parts / f"{key}.members.json"

    def _into_tree(self, file: Path, path: str) -> str:
        target = f"{self._root}/{path}"
        try:
            self._make_folder(target.rpartition("/")[0])
            os.replace(file, target)
        except (NotADirectoryError, IsADirectoryError, FileExistsError):
            raise FetchError(f"{self._source}: {path!a} is a file and a folder at once") from None
        except OSError as error:
            raise DiskTrouble(error) from None
        return target

    def _make_folder(self, folder: str) -> None:
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)

    def _fact(self, entry: Entry, key: str, path: str | Path, sha256: str) -> FileFact:
        found = os.stat(path)
        promised = str(entry.digest or "")
        return FileFact(entry.path, found.st_size, sha256, found.st_mtime_ns, key, promised, entry.etag)

    def _add(self, fact: FileFact) -> None:
        with self._lock:
            there = self.files.get(fact.path)
            if there is not None and there.key != fact.key:
                raise FetchError(
                    f"{self._source}: the name {fact.path!a} comes twice, with different contents"
                )
            self.files[fact.path] = fact
