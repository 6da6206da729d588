"""One run of a container: started or taken over, watched until it ends, stopped when asked."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import Any

from .attempt import Attempt, is_same_process
from .bench import Bench
from .failures import StartError, start_failure
from .joining import Inside, Session, open_session, run_inside, start_on
from .launching import Living, read_all, spawn
from .pod import Container, name_of, namespace_of
from .preparation import Prepared, prepare
from .state import NEVER, Terminated
from .strays import end_strays
from .termination import START_ERROR, classify, last_words

_POLL = 0.01


class Run:
    """The process of one run, from the side of the runner."""

    def __init__(self, container: Container, attempt: Attempt, bench: Bench) -> None:
        self.attempt = attempt
        self._container = container
        self._bench = bench
        self._living: Living | None = None
        self._prepared: Prepared | None = None
        self._killed = False

    async def start(self, *, wait: float | None) -> Terminated | None:
        """Start the container; None, or how that failed; ConfigError when it must wait for an object."""
        try:
            self.attempt.make(wait=wait)
            self._prepared = await prepare(self._container, self.attempt, self._bench)
            title = f"{namespace_of(self._bench.pod)}/{name_of(self._bench.pod)}/{self._container.name}"
            process, ready = spawn(self.attempt, self._prepared.config, title=title)
        except StartError as error:
            return self._not_started(str(error))
        except OSError as error:
            return self._not_started(self._words("record", error.errno or 0, str(error.filename)))
        self._living = Living(process)
        try:
            trouble = await read_all(ready)
            if "started" in self.attempt.record():
                return None
        except asyncio.CancelledError:
            self._let_go()
            raise
        await self._ended()
        record = self.attempt.record()
        if trouble:
            return self._not_started(self._words("record", int(trouble.split()[1]), ""))
        if "failed" not in record:
            return self._terminated(record)
        return self._not_started(self._words(record["failed"], record["errno"], record.get("about", "")))

    async def adopt(self) -> Terminated | None:
        """Take over a run that somebody else started; return how it ended if it has."""
        while self.attempt.is_alive():
            record = self.attempt.record()
            if "started" in record and is_same_process(record):
                self._living = Living(record["pid"])
                return None
            await asyncio.sleep(_POLL)  # its launcher has begun, and needs a moment to say so
        record = self.attempt.record()
        if is_same_process(record):  # a child of this very process, which nobody has waited for
            with suppress(ChildProcessError):
                os.waitpid(record["pid"], 0)
        if "message" in record:
            return self._start_error(record["message"], record["ended"])
        if "failed" in record:
            return self._not_started(self._words(record["failed"], record["errno"], record.get("about", "")))
        return self._terminated(record)

    @property
    def started(self) -> float:
        """Return the moment the container started."""
        return float(self.attempt.record().get("started", 0) / 1e9)

    async def ended(self) -> Terminated:
        """Wait for the end of a container that has started."""
        await self._ended()
        return self._terminated(self.attempt.record())

    async def _ended(self) -> None:
        assert self._living is not None
        try:
            await self._living.ended(self.attempt)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._living is not None:
            self._living.close()
            self._living = None

    def signal(self, *, kill: bool) -> None:
        """Ask the container to end, or end it and everything it started."""
        self._killed = self._killed or kill
        if self._living is not None:
            self._living.signal(signal.SIGUSR1 if kill else signal.SIGTERM)

    async def execute(self, argv: list[str], limit: float | None) -> tuple[int, str]:
        """Run a command inside the container."""
        inside, words = await self._inside(argv)
        return await run_inside(inside, words, limit=limit)

    async def open_session(self, argv: list[str], *, reads: bool, terminal: bool) -> Session:
        """Start a command inside the container that somebody talks to."""
        inside, words = await self._inside(argv)
        return open_session(inside, words, reads=reads, terminal=terminal)

    async def start_on(self, argv: list[str], out: int, err: int) -> Session:
        """Start a command inside the container that writes to these streams."""
        inside, words = await self._inside(argv)
        return start_on(inside, words, out, err)

    async def _inside(self, argv: list[str]) -> tuple[Inside, list[str]]:
        """Return how a command joins this container, and its words."""
        if self._prepared is None:
            self._prepared = await prepare(self._container, self.attempt, self._bench)
        config = self._prepared.config
        inside = Inside(
            self.attempt.record()["first"],
            config["env"],
            config["cwd"],
            self._bench.settings.isolation,
            bool(self._bench.place.network),
            config["identity"],
        )
        return inside, self._prepared.rules.words(argv)

    def _terminated(self, record: dict[str, Any]) -> Terminated:
        if "ended" not in record:
            end_strays(self.attempt.folder)
        ended = classify(record, killed_by_us=self._killed, now=time.time(), container_id=self._id())
        words = last_words(
            self._container.spec, self.attempt.termination_log, self.attempt.log, failed=ended.exit_code != 0
        )
        return ended.with_message(words)

    def _words(self, step: str, number: int, about: str) -> str:
        config = self._prepared.config if self._prepared else {}
        argv = config.get("argv") or [""]
        path = config.get("env", {}).get("PATH", os.defpath)
        cwd = str(config.get("cwd", ""))
        return start_failure(step, number, argv=argv, cwd=cwd, env_path=path, about=about)

    def _not_started(self, text: str) -> Terminated:
        """Keep on disk why a run never started, if the disk takes it."""
        message = f'container "{self._container.name}": {text}'
        now = time.time()
        with suppress(OSError):
            self.attempt.write_record(message=message, ended=now)
        return self._start_error(message, now)

    def _start_error(self, message: str, ended: float) -> Terminated:
        return Terminated(START_ERROR, "StartError", NEVER, ended, message=message, container_id=self._id())

    def _id(self) -> str:
        return self._bench.container_id(self._container.name, self.attempt.number)
