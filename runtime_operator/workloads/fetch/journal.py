"""What has been written, in a file that any death of the process leaves readable.

    boot ID .                     on which running machine the lines below were written
    wrote KEY START STOP .        these bytes of a part are in its file
    done KEY SHA256 SIZE MTIME .  the file is whole, verified and in the tree
    drop KEY .                    nothing of this part is worth keeping
    synced OFFSET .               what stands in the journal before OFFSET has reached the disk

A line counts when its last mark is there; bytes are written before their line. What the kernel holds
outlives the process, though not the machine: under another boot id, bytes count only up to the last
`synced`, and a file that is done is hashed again before it is believed.
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .extents import Extents

_LINE = re.compile(
    rb"(?:boot [!-~]+|wrote [!-~]+ [0-9]{1,18} [0-9]{1,18}|drop [!-~]+|synced [0-9]{1,18}"
    rb"|done [!-~]+ [0-9a-f]{64} [0-9]{1,18} -?[0-9]{1,20}) \."
)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Done:
    """A file that is whole."""

    sha256: str
    size: int
    mtime_ns: int
    sure: bool = True
    """False where the machine has been restarted since"""


@dataclass(slots=True)
class Record:
    """What the journal knows of one part."""

    extents: Extents = field(default_factory=Extents)
    done: Done | None = None


class Journal:
    """Appends lines, each by one write, and reads them back."""

    def __init__(self, file: Path) -> None:
        self.records: dict[str, Record] = {}
        self._restore(file)
        self._lock = threading.Lock()
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._line(f"boot {boot_id()}")

    def wrote(self, key: str, start: int, stop: int) -> None:
        """Say that bytes are in a part's file."""
        self._line(f"wrote {key} {start} {stop}")

    def done(self, key: str, done: Done) -> None:
        """Say that a file is whole and in the tree."""
        self._line(f"done {key} {done.sha256} {done.size} {done.mtime_ns}")

    def drop(self, key: str) -> None:
        """Say that a part begins anew."""
        self._line(f"drop {key}")

    def position(self) -> int:
        """How long the journal is: what to hand to `synced` when the files have been synced."""
        return os.fstat(self._fd).st_size

    def synced(self, position: int) -> None:
        """Say that what stands before `position` has reached the disk."""
        self._line(f"synced {position}")

    def close(self) -> None:
        """Nothing more is written, not even by a thread that has not noticed the end yet."""
        with self._lock:
            os.close(self._fd)
            self._fd = -1

    def _line(self, text: str) -> None:
        with self._lock:
            if self._fd >= 0:
                os.write(self._fd, f"\n{text} .".encode())

    def _restore(self, file: Path) -> None:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return
        lines = _whole_lines(content)
        boots = [words[1] for _, words in lines if words[0] == "boot"]
        same_machine = bool(boots) and all(boot == boot_id() for boot in boots)
        synced = max((int(words[1]) for _, words in lines if words[0] == "synced"), default=0)
        for offset, words in lines:
            self._apply(words, sure=same_machine or offset < synced)

    def _apply(self, words: list[str], *, sure: bool) -> None:
        match words:
            case ["wrote", key, start, stop] if sure:
                self.records.setdefault(key, Record()).extents.add(int(start), int(stop))
            case ["done", key, sha256, size, mtime]:
                self.records.setdefault(key, Record()).done = Done(sha256, int(size), int(mtime), sure)
            case ["drop", key]:
                self.records.pop(key, None)


def boot_id() -> str:
    """What is another after a restart of the machine, and on another machine."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return f"{os.uname().nodename}"


def _whole_lines(content: bytes) -> list[tuple[int, list[str]]]:
    """Each line that is whole, with where it stands; what a broken disk made of a line is none."""
    found, offset = [], 0
    for line in content.split(b"\n"):
        if _LINE.fullmatch(line):
            found.append((offset, line.decode("ascii").split(" ")[:-1]))
        offset += len(line) + 1
    return found
