"""A program on a terminal of its own, as a person starts it: what it writes and when, and keys typed."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CTRL_C = "\x03"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Piece:
    """Some of the output."""

    text: str
    second: float
    computed: float
    """seconds of a processor that the program has used, with its children that have ended"""


@dataclass(frozen=True)
class Recording:
    """All of the output, and how the program ended."""

    pieces: Sequence[Piece]
    code: int
    seconds: float

    @property
    def text(self) -> str:
        """Everything that was written."""
        return "".join(piece.text for piece in self.pieces)


def record(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit: float,
    keys: Mapping[str, str] | None = None,
    columns: int = 110,
    rows: int = 40,
) -> Recording:
    """Run a command to its end; `keys` are typed once when the word before them is shown."""
    started, pieces, shown = time.monotonic(), list[Piece](), ""
    waiting = dict(keys or {})
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what starts this may have it ignored
        os.execvpe(command[0], list(command), {**environment, "TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    while read := next_bytes(terminal, until=started + limit):
        text = read.decode(errors="replace")
        pieces.append(Piece(text, time.monotonic() - started, computed(child)))
        shown += text
        for word in [word for word in waiting if word in shown]:
            os.write(terminal, waiting.pop(word).encode())
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Recording(pieces, code, time.monotonic() - started)


def next_bytes(terminal: int, *, until: float) -> bytes:
    """What comes next; empty when the other side is gone, TimeoutError when it takes too long."""
    if not select.select([terminal], [], [], max(0.0, until - time.monotonic()))[0]:
        raise TimeoutError("the program has not ended in time")
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


def computed(process: int) -> float:
    """Seconds of a processor that a process has used so far, with its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / TICKS
