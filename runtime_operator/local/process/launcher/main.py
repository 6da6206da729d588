"""Starts one container, copies its logs and records its end.

What to do comes on standard input as one marshalled dictionary. Descriptor 3 is the lock that says, as long
as somebody holds it, that the container lives. Descriptor 4 is closed when the record says whether it
started. SIGTERM is passed on to the container; SIGUSR1 kills it and all that is left of it.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import time
from contextlib import suppress

from . import kernel
from .first import run_first
from .person import map_user
from .record import Record, identity, memory_kills
from .remains import end_children
from .root import View
from .scribe import Log, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time typing would take as long as Python itself
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

LOCK, READY = 3, 4


def main() -> None:
    """Do what standard input says."""
    with open(0, "rb", closefd=False) as told:
        config: dict[str, Any] = marshal.loads(told.read())
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    for descriptor in (LOCK, READY):
        os.set_inheritable(descriptor, False)
    try:
        record, log = Record(config["record"]), Log(config["log"])
    except OSError as error:
        os.write(READY, f"record {error.errno}".encode())
        return
    start, boot = identity(os.getpid())
    record.write(pid=os.getpid(), start=start, boot=boot)
    kernel.adopt_orphans()
    try:
        enter_namespaces(config)
    except OSError as error:
        record.write(
            failed="namespaces", errno=error.errno or 0, about=str(error.filename), ended=time.time_ns()
        )
        return
    Launch(config, record, log).run()


def enter_namespaces(config: dict[str, Any]) -> None:
    """Enter the pod's network, and make what else the container does not share with this machine."""
    if config["network"]:
        network = os.open(config["network"], os.O_RDONLY | os.O_CLOEXEC)
        kernel.setns(network, kernel.CLONE_NEWNET)
        os.close(network)
    if not config["namespaces"]:
        return
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(config["namespaces"])
    if config["namespaces"] & kernel.CLONE_NEWUSER:
        map_user(user, user, group, group)
    kernel.sethostname(config["hostname"])
    view = View(config["scratch"])
    for what, where, read_only in config["mounts"]:
        view.bind(what, where, read_only)
    if config["identity"]["read_only_root"]:
        view.protect()
    view.enter()


class Launch:
    """One container from its start to its record."""

    def __init__(self, config: dict[str, Any], record: Record, log: Log) -> None:
        self._record = record
        self._log = log
        self._status: int | None = None
        self._reaped = False
        self._report = b""
        self._kills = memory_kills()
        self._first = self._fork_first(config)

    def _fork_first(self, config: dict[str, Any]) -> int:
        (out, out_end), (err, err_end), (self._hear, tell) = os.pipe(), os.pipe(), os.pipe()
        first = os.fork()
        if first == 0:
            own_proc = bool(config["namespaces"] & kernel.CLONE_NEWPID)
            os.close(READY)
            run_first(
                config["argv"],
                config["env"],
                config["cwd"],
                config["identity"],
                tell=tell,
                streams=(out_end, err_end),
                own_proc=own_proc,
            )
        for descriptor in (out_end, err_end, tell):
            os.close(descriptor)
        self._streams = [Stream(out, "stdout"), Stream(err, "stderr")]
        return first

    def run(self) -> None:
        """Serve the container until its pipes are closed, then record its end."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._signal(signal.SIGTERM))
        signal.signal(signal.SIGUSR1, self._signal(signal.SIGKILL))
        self._record.write(first=self._first)
        poll = select.poll()
        readers: dict[int, Callable[[], bool]] = {self._hear: self._listen}
        readers |= {stream.descriptor: self._copier(stream) for stream in self._streams}
        for descriptor in readers:
            poll.register(descriptor, select.POLLIN)
        while readers:
            for descriptor, _ in poll.poll():
                if not readers[descriptor]():
                    poll.unregister(descriptor)
                    del readers[descriptor]
        self._end()

    def _signal(self, number: int) -> Callable[[int, FrameType | None], None]:
        def handler(_: int, __: FrameType | None) -> None:
            if not self._reaped:
                with suppress(ProcessLookupError):  # reaped a moment ago
                    os.kill(self._first, number)

        return handler

    def _copier(self, stream: Stream) -> Callable[[], bool]:
        def copy() -> bool:
            lines = stream.take()
            self._log.write(stream.last() if lines is None else lines)
            return lines is not None

        return copy

    def _listen(self) -> bool:
        """Take in what process 1 says; false when it is gone."""
        data = os.read(self._hear, 256)
        self._report += data
        *lines, self._report = self._report.split(b"\n")
        for line in lines:
            self._heed(line.decode().split())
        if not data:
            self._reap_first()
        return bool(data)

    def _reap_first(self) -> None:
        """Wait for process 1; if it could not say how the command ended, the command ended as it did."""
        _, status = os.waitpid(self._first, 0)
        self._reaped = True
        end_children()
        if self._status is None:
            self._status = status

    def _heed(self, words: list[str]) -> None:
        if words[0] == "started":
            self._record.write(started=time.time_ns())
            os.close(READY)
        elif words[0] == "failed":
            self._record.write(failed=words[1], errno=int(words[2]))
        else:
            self._status = int(words[1])

    def _end(self) -> None:
        self._record.write(
            status=self._status or 0,
            kills=memory_kills() - self._kills,
            log_errno=self._log.error,
            ended=time.time_ns(),
        )
