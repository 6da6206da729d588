"""Runs one command inside a container that lives already: a probe, a hook, `exec`.

What to do comes on standard input as one marshalled dictionary; output goes where this process writes, and
the command reads from descriptor 3 if it reads at all.
SIGTERM ends the command and whatever it started.
"""

from __future__ import annotations

import marshal
import os
import signal
import sys
from contextlib import suppress

from . import kernel
from .first import start_command
from .remains import end_children

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time typing would take as long as Python itself
    from types import FrameType
    from typing import Any, NoReturn

NOT_STARTED = 126
INPUT = 3


def enter(process: int, namespaces: int) -> None:
    """Join the namespaces of a process and see the same root: joining alone leads out of a chroot."""
    container = os.pidfd_open(process)
    root = os.open(f"/proc/{process}/root", os.O_RDONLY | os.O_DIRECTORY)
    kernel.setns(container, namespaces)
    os.fchdir(root)
    os.chroot(".")
    os.close(root)
    os.close(container)


def main() -> None:
    """Do what standard input says and end with the command's exit code."""
    with open(0, "rb", closefd=False) as told:
        config: dict[str, Any] = marshal.loads(told.read())
    source = INPUT if config["input"] else os.open(os.devnull, os.O_RDWR)
    os.dup2(source, 0)
    os.close(source)
    kernel.adopt_orphans()
    if config["namespaces"]:
        enter(config["first"], config["namespaces"])
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    command, problem = start_command(
        config["argv"], config["env"], config["cwd"], config["identity"], streams=(1, 2)
    )

    def give_up(_: int, __: FrameType | None) -> NoReturn:
        with suppress(ProcessLookupError):
            os.killpg(command, signal.SIGKILL)
        os.waitpid(command, 0)  # a process namespace cannot end before everybody in it is reaped
        if not config["namespaces"]:  # in a namespace /proc shows other numbers; the container ends the rest
            end_children()
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, give_up)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _, status = os.waitpid(command, 0)
    if problem:
        step, number = problem.split()
        print(f"{step}: {os.strerror(int(number))}", file=sys.stderr)
        os._exit(NOT_STARTED)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
