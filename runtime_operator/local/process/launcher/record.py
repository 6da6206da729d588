"""What the launcher leaves on disk about its container: who it is, how it started, how it ended.

The file takes its full size before the container starts, and is written over in place from then on, so that
the end of a container is told on a full disk as well. It is one JSON object with blanks after it.
"""

from __future__ import annotations

import os
from _json import encode_basestring_ascii as quote

SIZE = 4096
_TEXT = 1500
"""longest text in bytes; two of them fit, however many of their characters need an escape"""


class Record:
    """The fields written so far."""

    def __init__(self, path: str) -> None:
        self._fields: dict[str, str] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.pwrite(self._file, b" " * SIZE, 0)

    def write(self, **fields: int | str) -> None:
        """Add fields and write all of them."""
        for name, value in fields.items():
            self._fields[name] = quote(value[:_TEXT]) if isinstance(value, str) else str(value)
        text = "{" + ", ".join(f'"{name}": {value}' for name, value in self._fields.items()) + "}"
        os.pwrite(self._file, text.encode().ljust(SIZE), 0)


def identity(process: int) -> tuple[int, str]:
    """Tell when a process started, in ticks since boot, and the id of this boot.

    A number that is used again differs in one of them.
    """
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            start = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
            return start, boot.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return 0, ""


def memory_kills() -> int:
    """Tell how many processes the kernel has killed for lack of memory since it booted."""
    try:
        with open("/proc/vmstat", "rb") as file:
            for line in file:
                if line.startswith(b"oom_kill "):
                    return int(line.split()[1])
    except FileNotFoundError:
        return 0
    return 0
