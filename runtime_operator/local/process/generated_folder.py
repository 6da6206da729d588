"""A folder of generated files that changes all at once, as a kubelet's do.

Each version lies in a hidden folder of its own. `..data` is a link to the present one and every name a link
through it, so that a reader who opens two files, a certificate and its key, finds both of one version unless
the change falls between, and never half a file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from .generated import File

_DATA = "..data"
_FOLDER_MODE = 0o755


def publish(folder: Path, files: Iterable[File]) -> None:
    """Show these files and no others; nothing happens while they are as they were."""
    wanted = {file.path: file for file in files}
    present = folder / _DATA
    if present.exists() and _is_same(present, wanted):
        return
    before = present.resolve() if present.is_symlink() else None
    version = Path(tempfile.mkdtemp(prefix="..", dir=folder))
    version.chmod(_FOLDER_MODE)
    for file in wanted.values():
        path = version / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(file.mode)
    _link(version.name, present)
    _show(folder, {Path(path).parts[0] for path in wanted})
    if before is not None:
        shutil.rmtree(before, ignore_errors=True)


def _is_same(version: Path, wanted: Mapping[str, File]) -> bool:
    names = {str(path.relative_to(version)) for path in version.rglob("*") if path.is_file()}
    return names == wanted.keys() and all(
        (file.content, file.mode) == (there.read_bytes(), there.stat().st_mode & 0o7777)
        for there, file in ((version / path, file) for path, file in wanted.items())
    )


def _show(folder: Path, names: set[str]) -> None:
    """Have a link for each of these names, and for no others."""
    for old in folder.iterdir():
        if not old.name.startswith("..") and old.name not in names:
            old.unlink()
    for name in names:
        if not (folder / name).is_symlink():
            _link(f"{_DATA}/{name}", folder / name)


def _link(to: str, path: Path) -> None:
    """Make a link in the place of another."""
    fresh = path.with_name("..fresh")
    fresh.unlink(missing_ok=True)
    os.symlink(to, fresh)
    fresh.replace(path)
