"""Names of files that may be written: below the folder, and each once.

A name comes from the other side, so it is refused rather than mended: what led out of the folder was meant
to, and half a tree is no tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .troubles import FetchError

MANIFEST = "MANIFEST.json"
"""the name of our own record, at the root of a finished folder"""
_STRANGE = re.compile(r"[\x00-\x1f\x7f\\]")
_LONGEST_PART = 255
_LONGEST = 4000


def check_name(path: str, what: str, *, source: str) -> None:
    """Refuse a name that is no plain path below the folder, and anything that is no regular file."""
    shown = ascii(path)
    if what != "file":
        raise FetchError(
            f"{source}: {shown} is a {what}, only regular files are fetched; leave it out by --ignore"
        )
    fault = _fault(path)
    if fault:
        raise FetchError(f"{source}: the name {shown} {fault}, it is not written anywhere; rename it there")


def check_together(paths: Iterable[str], *, source: str) -> None:
    """Refuse a name that comes twice, and one that is both a file and a folder."""
    files: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        if path in files:
            raise FetchError(f"{source}: the name {path!a} comes twice, nobody can tell which file is meant")
        files.add(path)
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    both = sorted(files & folders)
    if both:
        raise FetchError(
            f"{source}: {both[0]!a} is a file and a folder at once, a disk can hold only one of them"
        )


def _fault(path: str) -> str:
    if not path:
        return "is empty"
    if path.startswith("/"):
        return "is absolute"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of the folder by .."
    if parts[0] == MANIFEST and len(parts) > 1:
        return f"lies in a folder called {MANIFEST}, the name of our own record"
    if "" in parts or "." in parts:
        return "has an empty part"
    if _STRANGE.search(path):
        return "has a backslash or a control character"
    try:
        encoded = [os.fsencode(part) for part in parts]
        path.encode("utf-8")
    except UnicodeError:
        return "is not UTF-8"
    if any(len(part) > _LONGEST_PART for part in encoded) or sum(map(len, encoded)) + len(parts) > _LONGEST:
        return "is longer than a disk allows"
    return ""
