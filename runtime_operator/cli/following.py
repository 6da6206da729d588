"""Follows a job to its end: lines as they come, a live line on a terminal, JSON for programs.

Where this command has started the job, Ctrl-C asks once and a second one within the time to think cancels the
job. Elsewhere it ends the command, and the job goes on.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import Literal

import click

from ..errors import Retryable
from ..jobs import SPEAKER, Event, Jobs, Line, News, Progress, Whose
from .main import say_error
from .readout import Readout

Output = Literal["yaml", "json"]

CLEAR = "\r\x1b[K"
TO_THINK = 5.0


class Screen:
    """Where news go: to a person with a live line, to a file, or to a program."""

    def __init__(self, *, output: Output | None, names_pods: bool, lines: bool) -> None:
        self._output, self._names_pods, self._lines = output, names_pods, lines
        self._live = output is None and sys.stdout.isatty()
        self._readout = Readout()

    def show(self, news: News) -> None:
        """Show one piece of news."""
        if self._output:
            click.echo(json.dumps({"kind": type(news).__name__.lower(), **asdict(news)}))
            return
        match news:
            case Line():
                self._line(news)
            case Progress(percent, seconds_left, metrics):
                self._readout.take_progress(percent, seconds_left, metrics)
            case Event() if news.warning:
                self._print(
                    click.style(f"{news.object}: {news.reason}: {news.message}", fg="yellow"), err=True
                )
        self.refresh()

    def refresh(self) -> None:
        """Write the live line anew."""
        if self._live and (text := self._readout.text()):
            click.echo(CLEAR + click.style(text, fg="cyan"), nl=False)

    def close(self) -> None:
        """Leave the live line as the last one."""
        if self._live and self._readout.text():
            click.echo("")

    def _line(self, line: Line) -> None:
        is_progress = self._readout.take_line(line.text)
        if self._lines and not (self._live and is_progress):
            self._print(f"{line.pod}: {line.text}" if self._names_pods else line.text)

    def _print(self, text: str, *, err: bool = False) -> None:
        if self._live:
            click.echo(CLEAR, nl=False)
        click.echo(text, err=err)


def follow_job(
    jobs: Jobs,
    name: str,
    *,
    output: Output | None,
    whose: Whose = SPEAKER,
    tail: int | None = None,
    lines: bool = True,
    timeout: float | None = None,
    owns: bool = True,
) -> int:
    """Show what happens to a job until it ends; return its exit code."""
    screen = Screen(output=output, names_pods=whose.several, lines=lines)
    until = None if timeout is None else time.monotonic() + timeout
    with _asking(jobs, name) if owns else nullcontext():
        for news in jobs.follow(name, whose, tail=tail, until=until):
            screen.show(news)
    screen.close()
    return _end(jobs, name, output)


@contextmanager
def _asking(jobs: Jobs, name: str) -> Iterator[None]:
    """Let the first Ctrl-C ask and the second one cancel, while the job is followed."""
    asked = float("-inf")

    def interrupted(_signal: int, _frame: object) -> None:
        nonlocal asked
        if time.monotonic() - asked < TO_THINK:
            say_error(f"{name}: cancelling")
            jobs.cancel(name)
        else:
            asked = time.monotonic()
            say_error(f"Ctrl-C again within {TO_THINK:.0f} s cancels {name}; otherwise it goes on")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(jobs: Jobs, name: str, output: Output | None) -> int:
    """Say how the job ended; return its exit code."""
    job = jobs.get(name)
    if not job.finished and job.phase != "Suspended":
        raise Retryable(f"TrainJob {name}: has not ended; it goes on", after=0)
    code = jobs.exit_code(name)
    if output:
        click.echo(json.dumps({"kind": "end", "phase": job.phase, "message": job.message, "exit_code": code}))
    elif job.phase == "Failed":
        say_error(jobs.digest(name))
    else:
        click.echo(f"{name}: {job.message}", err=True)
    return code
