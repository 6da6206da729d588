"""Room on the disk: asked for before the first byte, and told of when it runs out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ...errors import KfpTrainerError, SetupError

_SPARE = 8 << 20
"""bytes for the journal, the folders and the manifest"""
_PER_FILE = 4096
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_space(folder: Path, *, needed: int, files: int) -> None:
    """Refuse what does not fit."""
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    wanted = needed + files * _PER_FILE // 8 + (_SPARE if needed > _SPARE else 0)
    if wanted > free:
        raise SetupError(
            f"{folder.parent}: {in_words(needed)} are still to be fetched and {in_words(free)} are free, "
            f"make room for {in_words(wanted - free)} or give a folder on a larger volume"
        )
    if found.f_files and files > found.f_favail:
        raise SetupError(
            f"{folder.parent}: {files} files are to be written, the volume has room for {found.f_favail}"
        )


def disk_trouble(target: Path, error: OSError) -> KfpTrainerError:
    """The sentence for what our own disk refused."""
    if error.errno in _FULL:
        return SetupError(
            f"{target}: the disk is full ({error.strerror}); what was fetched is kept, make room and run "
            "it again: it goes on where it stopped"
        )
    return SetupError(
        f"{target}: cannot be written ({error.strerror or error}); what was fetched is kept, "
        "mend the volume and run it again"
    )


def in_words(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
