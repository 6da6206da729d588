"""Process 1 of a container: starts the command, reaps orphans, and ends what the command leaves behind.

It tells the launcher through a pipe, one line each: `started`, or `failed STEP ERRNO`; then `ended STATUS`,
the wait status of the command. SIGTERM is passed on to the process group of the command; a shell that ends
of it leaves the rest of the group the time that the stop grants.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from . import kernel
from .person import become_person
from .remains import end_children

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time typing would take as long as Python itself
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import NoReturn


def run_first(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    identity: Mapping[str, int],
    *,
    tell: int,
    streams: tuple[int, int],
    own_proc: bool,
) -> NoReturn:
    """Be process 1 until the command has ended and nothing of it is left."""
    kernel.die_with_parent(signal.SIGKILL)
    kernel.adopt_orphans()
    waiting = {signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    if own_proc:
        kernel.mount("proc", "/proc", 0, kind="proc")
    command, problem = start_command(argv, env, cwd, identity, streams=streams)
    for descriptor in streams:
        os.close(descriptor)
    if problem:
        os.waitpid(command, 0)
        os.write(tell, f"failed {problem}\n".encode())
        os._exit(0)

    told_to_stop = False

    def pass_on(number: int, _: FrameType | None) -> None:
        nonlocal told_to_stop
        told_to_stop = True
        with suppress(ProcessLookupError):
            os.killpg(command, number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, waiting)
    os.write(tell, b"started\n")
    status = _reap_until(command)
    while told_to_stop and _is_group(command):
        os.waitpid(-1, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(tell, b"ended %d\n" % status)
    with suppress(ProcessLookupError):  # where nobody adopts orphans, the group is all that can be reached
        os.killpg(command, signal.SIGKILL)
    end_children()
    os._exit(0)


def _reap_until(command: int) -> int:
    """Reap whatever ends until the command does; return its wait status."""
    while True:
        process, status = os.waitpid(-1, 0)
        if process == command:
            return status


def _is_group(leader: int) -> bool:
    """Tell whether a process group has a member."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def start_command(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    identity: Mapping[str, int],
    *,
    streams: tuple[int, int],
) -> tuple[int, str]:
    """Fork and execute; return the process, and `STEP ERRNO` if that failed."""
    hear, tell = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(hear)
        become(argv, env, cwd, identity, tell=tell, streams=streams)
    os.close(tell)
    with open(hear, "rb") as report:
        return process, report.read().decode()


def become(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    identity: Mapping[str, int],
    *,
    tell: int,
    streams: tuple[int, int],
) -> NoReturn:
    """Turn this process into the command, as leader of a session of its own."""
    step = "chdir"
    try:
        kernel.die_with_parent(signal.SIGKILL)
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(streams[0], 1)
        os.dup2(streams[1], 2)
        if os.isatty(0):
            kernel.take_terminal(0)
        os.chdir(cwd)
        step = "identity"
        become_person(identity)
        step = "exec"
        os.execvpe(argv[0], list(argv), dict(env))
    except OSError as error:
        os.write(tell, f"{step} {error.errno}".encode())
    os._exit(127)
