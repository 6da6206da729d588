"""The process of a runner: started for a job that has none, detached from whoever starts it.

It holds the job's lock as long as it lives. A second one finds the lock taken and leaves at once.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from .folder import JobFolder, take_lock
from .process.launcher.record import identity
from .record import read_record
from .runner import Runner

_MODULE = __package__
_LOCK = 3
"""descriptor under which a runner inherits its lock"""


def start_runner(folder: JobFolder) -> None:
    """Start a runner of its own process for a job that has none; it outlives whoever started it.

    The lock is taken here and handed over, so that there is no moment in which the job seems to have none.
    """
    lock = take_lock(folder.path / "runner.lock")
    if lock is None:
        return
    log = os.open(folder.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    high = fcntl.fcntl(lock, fcntl.F_DUPFD_CLOEXEC, _LOCK + 1)
    command = [sys.executable, "-m", _MODULE, str(folder.path), str(_LOCK)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, log, 1),
        (os.POSIX_SPAWN_DUP2, log, 2),
        (os.POSIX_SPAWN_DUP2, high, _LOCK),
    ]
    try:
        os.posix_spawn(command[0], command, dict(os.environ), file_actions=actions, setsid=True)
    finally:
        for descriptor in (log, lock, high):
            os.close(descriptor)


def main(path: str, lock: int | None = None) -> None:
    """Run the job of a folder under a lock that was handed over, or under one that nobody holds."""
    folder = JobFolder(Path(path))
    if lock is not None:
        os.set_inheritable(lock, False)
    elif take_lock(folder.path / "runner.lock") is None:
        return
    asyncio.run(_run(folder))


async def _run(folder: JobFolder) -> None:
    runner = Runner(folder, read_record(folder), jobs=folder.path.parent.parent)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, runner.wake)
    folder.write("runner", {"pid": os.getpid(), "identity": identity(os.getpid())})
    await runner.run()


def wake_runner(folder: JobFolder) -> None:
    """Tell the runner of a job that somebody wants something; one that is not there is started."""
    if not folder.is_run():
        start_runner(folder)
        return
    document = folder.read("runner")
    if document and identity(document["pid"]) == tuple(document["identity"]):
        with suppress(ProcessLookupError):
            os.kill(document["pid"], signal.SIGUSR1)
