"""The files of a model's folder that go out, with their digests, and the record that is left beside them.

The record names every file with its size and SHA-256. Where nothing can appear at once, as in a bucket, it
is written twice: first to say that the place is taken, and last, complete, to say that everything is there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SpecError
from ..fetch.hashing import hash_file, tree_digest
from ..fetch.names import MANIFEST
from ..fetch.selection import PICKLES

RECORD = "export.json"
TOOL = "kfp-trainer export"
LEFT_OUT = (MANIFEST, RECORD)


@dataclass(frozen=True, slots=True)
class File:
    """One file that goes out."""

    path: str
    """with `/` between its parts"""
    source: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that goes out."""

    files: tuple[File, ...]

    @property
    def digest(self) -> str:
        """The digest of the tree."""
        return tree_digest((file.path, file.sha256) for file in self.files)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def record(self, *, complete: bool) -> bytes:
        """What stands beside the files at the target."""
        document = {
            "tool": TOOL,
            "complete": complete,
            "digest": self.digest,
            "files": [{"path": each.path, "size": each.size, "sha256": each.sha256} for each in self.files],
        }
        return f"{json.dumps(document, indent=1)}\n".encode()


def read_record(body: bytes) -> dict[str, Any] | None:
    """The record that an earlier export left; None where it is somebody else's file."""
    try:
        document = json.loads(body)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("tool") != TOOL:
        return None
    return document if isinstance(document.get("files"), list) else None


def check_folder(folder: Path) -> None:
    """Refuse what is no model, before anything is hashed or sent."""
    if not folder.is_dir():
        raise SpecError(f"model: {folder} does not exist, give the folder of a model")
    if not any((folder / name).is_file() for name in ("config.json", "adapter_config.json")):
        raise SpecError(f"model: {folder} has neither config.json nor adapter_config.json, give a model")
    if not any(folder.rglob("*.safetensors")):
        raise SpecError(f"model: {folder} has no *.safetensors, there is nothing to export")


def bundle_of(folder: Path) -> Bundle:
    """The files of `folder`, hashed; hidden ones, pickles and our own records stay here."""
    found = [_file(folder, path) for path in sorted(folder.rglob("*")) if _goes_out(folder, path)]
    return Bundle(tuple(sorted(found, key=lambda file: file.path)))


def _goes_out(folder: Path, path: Path) -> bool:
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith(".") for part in parts)
    return path.is_file() and not hidden and path.suffix not in PICKLES and "/".join(parts) not in LEFT_OUT


def _file(folder: Path, path: Path) -> File:
    return File(path.relative_to(folder).as_posix(), path, path.stat().st_size, hash_file(path))
