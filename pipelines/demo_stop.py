"""Ctrl-C in the demonstration: whatever has been begun ends, and nothing of it is left.

The signal's handler ends the processes of the step that runs, for kfp waits for them, and hides what they
would still say. A program that is told to end, or that loses its terminal, leaves as little behind.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import TextIO

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 60.0
"""seconds that the processes of a job get to end: they have 30 for their last checkpoint"""
GRACE = 10.0
"""seconds that those of a step get before they are killed"""


@contextmanager
def interruptible(clean: Callable[[], None]) -> Iterator[None]:
    """Call `clean` when a signal breaks the block off, whatever it breaks; KeyboardInterrupt then.

    From the first signal on no other counts, so that an impatient second one leaves nothing either.
    """
    shown, asked = sys.stdout, False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        _say("\nStop, and take away what this run has begun …\n", shown)
        sys.stdout = StringIO()  # what ends now has nothing to tell
        end_children()
        raise KeyboardInterrupt

    before = {each: signal.signal(each, stop) for each in SIGNALS}
    try:
        yield
    except BaseException as error:
        if asked and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        if asked:
            clean()
        sys.stdout = shown
        for each, handler in before.items():
            signal.signal(each, handler)


def _say(text: str, shown: TextIO) -> None:
    """Write to a stream, around it where the signal came in the middle of a write to it."""
    try:
        shown.write(text)
        shown.flush()
    except RuntimeError:  # a buffer cannot be entered twice
        os.write(shown.fileno(), text.encode())


def end_children() -> None:
    """End what runs below this process, and wait until it has ended."""
    import psutil

    children = psutil.Process().children(recursive=True)
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    _, alive = psutil.wait_procs(children, timeout=GRACE)
    for child in alive:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    psutil.wait_procs(alive, timeout=GRACE)


def take_away(folder: Path) -> None:
    """End the jobs of a run that is broken off, and remove its folder."""
    from kfp_trainer.runtime_operator.jobs import open_jobs

    jobs = open_jobs(place="local")
    for job in jobs.list():
        if str(folder) in json.dumps(job.train_job["spec"]):
            jobs.delete(job.name, timeout=PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)
