"""Gives a container its own view of the file system: the machine's, with volumes at their mount paths.

The view is a new root in a mount namespace of its own: every entry of / is bound into it, and each volume is
bound at its path. Where a path is not there, the folder that would hold it is replaced in the view by one in
memory whose entries are bound from the old, so that nothing is ever made in the machine's own folders.
Propagation is private from the first step on: no mount of ours is seen outside.
"""

from __future__ import annotations

import os
import stat

from . import kernel

Mount = tuple[str, str, bool]
"""what, where, read-only"""

_LOCKED = (
    (os.ST_NOSUID, 2),
    (os.ST_NODEV, 4),
    (os.ST_NOEXEC, 8),
    (os.ST_NOATIME, 1024),
    (os.ST_NODIRATIME, 2048),
)
"""flags of a mount that a remount must repeat: (as statvfs tells them, as mount takes them)"""


class View:
    """A root under construction in a folder."""

    def __init__(self, scratch: str) -> None:
        self._root = scratch
        self._made = {scratch}
        self._volumes: list[str] = []
        self._read_only: dict[str, bool] = {}
        kernel.mount("none", "/", kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount("tmpfs", scratch, 0, kind="tmpfs", options="mode=755")
        kernel.mount("none", scratch, kernel.MS_UNBINDABLE)
        self._mirror("/", scratch)

    def bind(self, what: str, where: str, read_only: bool) -> None:
        """Show a file or folder at a path of the view."""
        target = self._place(os.path.realpath(where), directory=os.path.isdir(what))
        kernel.mount(what, target, kernel.MS_BIND | kernel.MS_REC)
        self._volumes.append(target + "/")
        self._read_only[target] = read_only
        if read_only:
            kernel.mount(
                "none", target, kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | _kept(target)
            )

    def protect(self) -> None:
        """Let nothing be written to but volumes and /dev, where memory is shared."""
        kernel.set_read_only(self._root, True)
        for target, read_only in {f"{self._root}/dev": False, **self._read_only}.items():
            kernel.set_read_only(target, read_only)

    def enter(self) -> None:
        """Make the view the root of this process."""
        kernel.mount("none", self._root, kernel.MS_PRIVATE)
        os.chdir(self._root)
        kernel.pivot_root(".", ".")
        kernel.detach(".")
        os.chdir("/")

    def _place(self, path: str, *, directory: bool) -> str:
        """Return where a path lies in the view, made if it is not there."""
        current = self._root
        names = [name for name in path.split("/") if name]
        for number, name in enumerate(names):
            following = f"{current}/{name}"
            if not os.path.lexists(following):
                if not self._is_ours(current):
                    self._replace(current)
                _make(following, directory=directory or number < len(names) - 1)
                self._made.add(following)
            current = following
        return current

    def _is_ours(self, folder: str) -> bool:
        """Tell whether something may be made in a folder: one in memory, or a volume."""
        return folder in self._made or any(f"{folder}/".startswith(volume) for volume in self._volumes)

    def _replace(self, folder: str) -> None:
        """Put a folder in memory in the place of one of the machine's, with the same entries."""
        aside = f"{self._root}/.aside"
        os.mkdir(aside)
        kernel.mount(
            "tmpfs", aside, 0, kind="tmpfs", options=f"mode={stat.S_IMODE(os.stat(folder).st_mode):o}"
        )
        self._mirror(folder, aside)
        kernel.mount(aside, folder, kernel.MS_MOVE)
        os.rmdir(aside)
        self._made.add(folder)

    @staticmethod
    def _mirror(folder: str, copy: str) -> None:
        """Bind each entry of a folder into another; links are made again."""
        with os.scandir(folder) as entries:
            for entry in entries:
                target = f"{copy}/{entry.name}"
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), target)
                else:
                    _make(target, directory=entry.is_dir())
                    kernel.mount(entry.path, target, kernel.MS_BIND | kernel.MS_REC)


def _make(path: str, *, directory: bool) -> None:
    if directory:
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _kept(path: str) -> int:
    flags = os.statvfs(path).f_flag
    return sum(kept for told, kept in _LOCKED if flags & told)
