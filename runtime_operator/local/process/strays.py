"""Ends processes whose launcher was killed before it could: found by a variable of their environment."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

MARK = "KFP_TRAINER_CONTAINER"
"""variable that every process of a container carries; its value is the folder of its run"""


def marked(folder: Path) -> list[int]:
    """List the processes of a container; none where there is no /proc."""
    wanted = f"{MARK}={folder}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def end_strays(folder: Path) -> None:
    """Kill the processes of a container until there are none."""
    while processes := [one for one in marked(folder) if one != os.getpid()]:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
