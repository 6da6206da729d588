"""Where a fetch works, and how its result appears at the target.

The work is done in a folder beside the target, on the same filesystem, and the finished folder takes the
target's place by a rename. Where the target is a mount point, or its parent may not be written, the work is
done in a hidden folder inside it, and the finished files are moved in one by one, MANIFEST.json last.

    DIR/../.NAME.fetch/     parts/ tree/ sliced/ journal scratch/     removed at the end
    DIR/../.NAME.lock       the lease

A target with files that no fetch has put there is refused: nobody's work is overwritten, and two models do
not get mixed in one folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from pathlib import Path

from ...errors import SetupError, SpecError
from .names import MANIFEST

_OURS = ("lost+found",)


class Place:
    """The folders of one fetch."""

    def __init__(self, target: Path) -> None:
        self.target = Path(os.path.abspath(target))
        if self.target.is_symlink():
            self.target = self.target.resolve()
        self.inside = _works_inside(self.target)
        root = self.target if self.inside else self.target.parent
        stem = "" if self.inside else f".{self.target.name}"
        self.work = root / f"{stem}.fetch"
        self.lock = root / f"{stem}.lock"
        self.parts, self.tree = self.work / "parts", self.work / "tree"
        self.sliced = self.work / "sliced"
        self.journal, self.scratch = self.work / "journal", self.work / "scratch"
        self._moving, self._old = self.work / "moving", self.work / "old"

    def prepare(self) -> None:
        """Make what the lease needs."""
        with _told(self.target):
            self.lock.parent.mkdir(parents=True, exist_ok=True)
            if self.target.exists() and not self.target.is_dir():
                raise SpecError(f"{self.target}: is a file, give a folder")

    def make(self) -> None:
        """Make the working folders, or find them again."""
        with _told(self.target):
            for folder in (self.work, self.parts, self.tree):
                if folder.is_symlink():
                    raise SpecError(f"{folder}: is a link that no fetch has made, remove it")
                folder.mkdir(exist_ok=True)
            if not self.was_moving:
                shutil.rmtree(self.sliced, ignore_errors=True)

    def check_foreign(self, known: Container[str]) -> None:
        """Refuse a target with files that are not from a fetch; `known` are those of its manifest."""
        if not self.target.is_dir() or self.was_moving:
            return
        found = list(islice(self._foreign(known), 4))
        if found:
            raise SpecError(
                f"{self.target}: holds files that no fetch has put there ({', '.join(found[:3])}"
                f"{' …' if len(found) > 3 else ''}), give an empty folder"
            )

    @property
    def was_moving(self) -> bool:
        """Whether an earlier run ended while it put the finished files in their place."""
        begun = self._moving.exists() or self._old.exists()
        return begun and (self.finished / MANIFEST).is_file()

    @property
    def finished(self) -> Path:
        """What takes the target's place: the rows that were cut out of the tree, or the tree."""
        return self.sliced if (self.sliced / MANIFEST).is_file() else self.tree

    def reserves(self, path: str) -> bool:
        """Whether a file of that path would take the place of what fetching needs itself."""
        return self.inside and self._is_own(path.partition("/")[0])

    def publish(self, paths: Iterable[str]) -> None:
        """Let the finished tree, with these files, take the target's place."""
        with _told(self.target):
            if self.inside:
                self._move_in({path.split("/", 1)[0] for path in (*paths, MANIFEST)})
            else:
                self._swap()
            shutil.rmtree(self.work, ignore_errors=True)

    def leave(self) -> None:
        """Leave the work for the next run, if there is any."""
        if not self.journal.exists() and not self.was_moving:
            self.discard_work()

    def discard_work(self) -> None:
        """Remove what an earlier fetch left of its work."""
        if self.work.is_dir() and not self.work.is_symlink():
            shutil.rmtree(self.work, ignore_errors=True)

    def _swap(self) -> None:
        if self.target.is_dir() and any(self.target.iterdir()):
            shutil.rmtree(self._old, ignore_errors=True)
            os.rename(self.target, self._old)
        os.rename(self.finished, self.target)

    def _move_in(self, coming: set[str]) -> None:
        """The old MANIFEST.json goes first and the new one comes last: in between, nothing is finished."""
        self._moving.touch()
        (self.target / MANIFEST).unlink(missing_ok=True)
        for entry in list(self.target.iterdir()):
            if entry.name not in coming and not self._is_own(entry.name):
                _remove(entry)
        for entry in sorted(self.finished.iterdir(), key=lambda entry: entry.name == MANIFEST):
            there = self.target / entry.name
            if there.is_dir() and not there.is_symlink():
                _remove(there)
            os.replace(entry, there)

    def _foreign(self, known: Container[str]) -> Iterator[str]:
        for folder, folders, files in os.walk(self.target):
            at_root = Path(folder) == self.target
            if at_root:
                folders[:] = [name for name in folders if not self._is_own(name)]
            for name in files:
                path = Path(folder, name).relative_to(self.target).as_posix()
                if path not in known and path != MANIFEST and not (at_root and self._is_own(name)):
                    yield path

    def _is_own(self, name: str) -> bool:
        """Whether something at the target's root is a fetch's own, or the filesystem's."""
        return name in (self.work.name, *_OURS) or name.startswith(self.lock.name)


def _works_inside(target: Path) -> bool:
    if os.path.ismount(target):
        return True
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    return target.is_dir() and not os.access(parent, os.W_OK)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


class _told:
    """Turn an OSError about our own folders into a sentence."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            why = error.strerror or str(error)
            raise SetupError(
                f"{self._target}: cannot be written ({why}), give a folder on a volume that can"
            ) from None
