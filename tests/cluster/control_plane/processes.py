"""One program of the control plane as a process that cannot outlive the one that started it.

Linux kills a part when the thread that started it ends, however that comes about: a crash, `kill -9`, an
interrupt. So parts are started from the main thread. Each has a session of its own, for Ctrl-C in a terminal
must reach the plane, which stops its parts in order, and not the parts themselves.
"""

import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 5.0
LAST_WORDS = 3000

_LIBC = ctypes.CDLL(None, use_errno=True)


class Process:
    """A program with its arguments, which can be started again after it was stopped or killed."""

    def __init__(
        self, name: str, command: Sequence[object], *, log: Path, pid_file: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = log
        self._pid_file = pid_file
        self._command = [str(each) for each in command]
        self._env = {**os.environ, **env}
        self._popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; its output is added to its log."""
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                self._command,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._pid_file.write_text(str(self._popen.pid), encoding="ascii")

    def stop(self) -> None:
        """Ask it to end, and insist after a while."""
        if self._popen is None:
            return
        self._popen.terminate()
        try:
            self._popen.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._popen is not None:
            self._popen.kill()
            self._popen.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, for example to hang and to go on."""
        if self._popen is not None:
            self._popen.send_signal(number)

    @property
    def pid(self) -> int | None:
        """Its process id; none if it does not run."""
        return self._popen.pid if self._popen is not None and self._popen.poll() is None else None

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-LAST_WORDS:]

    def resident_mb(self) -> int:
        """Its memory now, with that of what it has started; 0 if it does not run."""
        pages = sum(_resident_pages(pid) for pid in tree(self.pid))
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def tree(pid: int | None) -> Iterator[int]:
    """A process and those below it."""
    if pid is not None:
        yield pid
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text(encoding="ascii").split():
                yield from tree(int(child))


def _resident_pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # it has just ended
        return 0


def _die_with_parent() -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
