"""A folder of this machine, or of a claim that is mounted here: the new folder takes the place of the old.

The files are copied beside the target, hashed again as they lie there, and renamed into place together. A
folder that no export has made is never replaced.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote

from ...errors import SetupError, SpecError
from ..fetch.hashing import hash_file
from ..fetch.sources.file import CLAIMS, CLAIMS_VARIABLE
from ..files import new_folder
from .bundle import RECORD, Bundle, read_record
from .place import ExportError, Put, Target


def open_place(target: Target) -> Folder:
    """The folder of an address."""
    return Folder(target)


class Folder:
    """One folder."""

    def __init__(self, target: Target) -> None:
        in_claim = target.uri.scheme == "pvc"
        self._path = _in_claim(target) if in_claim else _plain(target)
        self._text = target.text if in_claim else str(self._path)

    def check(self) -> None:
        """Whether the folder is ours to replace, and may be written beside."""
        path = self._path
        if path.exists() and not path.is_dir():
            raise SpecError(f"{self._text}: is a file, give a folder")
        if path.is_dir() and any(path.iterdir()) and self._record() is None:
            raise SpecError(f"{self._text}: holds files that no export has put there, give another folder")
        if os.path.ismount(path):
            raise SpecError(f"{self._text}: is a mount itself, give a folder in it")
        parent = next(each for each in (path.parent, *path.parent.parents) if each.exists())
        if not os.access(parent, os.W_OK):
            raise SpecError(f"{self._text}: {parent} may not be written to, give another folder")

    def put(self, bundle: Bundle) -> Put:
        """Copy what is not there already."""
        if self._is_there(bundle):
            return Put(self._text, 0)
        try:
            self._copy(bundle)
        except OSError as error:
            raise ExportError(f"{self._text}: cannot be written ({error.strerror}), mend that") from None
        return Put(self._text, len(bundle.files))

    def close(self) -> None:
        """Nothing is held."""

    def _copy(self, bundle: Bundle) -> None:
        with new_folder(self._path) as part:
            for file in bundle.files:
                copy = part / file.path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.source, copy)
                if hash_file(copy) != file.sha256:
                    raise ExportError(
                        f"{self._text}: {file.path} is not what was copied, the disk or the model changed"
                    )
            (part / RECORD).write_bytes(bundle.record(complete=True))

    def _record(self) -> dict[str, object] | None:
        file = self._path / RECORD
        return read_record(file.read_bytes()) if file.is_file() else None

    def _is_there(self, bundle: Bundle) -> bool:
        record = self._record()
        if record is None or record.get("digest") != bundle.digest:
            return False
        return all(
            (self._path / file.path).is_file() and hash_file(self._path / file.path) == file.sha256
            for file in bundle.files
        )


def _plain(target: Target) -> Path:
    if target.uri.host:
        raise SpecError(f"{target.text}: names another machine, give file:///PATH or a path")
    return Path(unquote(target.uri.raw.strip().partition("://")[2]))


def _in_claim(target: Target) -> Path:
    uri = target.uri
    root = Path(target.secrets.get(CLAIMS_VARIABLE) or CLAIMS)
    inside = unquote(uri.path).strip("/")
    if not uri.host or uri.host in (".", "..") or not inside:
        raise SpecError(f"{uri.text}: names no folder of a claim, give pvc://CLAIM/PATH")
    mounted = root / uri.host
    if not mounted.is_dir():
        raise SetupError(
            f"{uri.text}: the claim {uri.host} is not mounted at {mounted}, mount it there, or name another "
            f"folder of mounts in {CLAIMS_VARIABLE}"
        )
    wanted = (mounted / inside).resolve()
    if not wanted.is_relative_to(mounted.resolve()):
        raise SpecError(f"{uri.text}: leads out of the claim {uri.host}, give a path inside it")
    return wanted
