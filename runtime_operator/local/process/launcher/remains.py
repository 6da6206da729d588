"""Ends every process that a container left behind.

In a process namespace the kernel does it when process 1 ends. Elsewhere an orphan becomes a child of the
nearest ancestor that adopts orphans, so that killing one's children until there are none left reaches every
descendant, also those that made a session of their own.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress


def children_of(parent: int) -> list[int]:
    """List the living children of a process, from /proc; none where there is no /proc."""
    found = []
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return []
    for name in names:
        if name.isdigit() and _parent_of(name) == parent:
            found.append(int(name))
    return found


def _parent_of(name: str) -> int:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return -1
    return -1 if state == b"Z" else int(parent)


def end_children() -> None:
    """Kill the children of this process, and theirs as they become ours, until none is left."""
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if not ended:
                for child in children_of(os.getpid()):
                    _kill(child)
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)
