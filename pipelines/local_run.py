"""Runs a pipeline on this machine, each task as a process, through kfp's own local runner.

kfp talks to its developers: it logs the whole input of each task and colours its own lines. What a person
wants to see is which step runs and what the step says; everything kfp wrote stays in the run's log file.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TextIO

from kfp_trainer.runtime_operator.errors import JobFailed


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A pipeline run that ended well."""

    folder: Path
    outputs: Mapping[str, Any]


def run_local(pipeline: Callable[..., Any], arguments: Mapping[str, Any], folder: Path) -> LocalRun:
    """Run the pipeline to its end; artifacts and the full log go to `folder`."""
    from kfp import local

    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "pipeline.log"
    with log.open("w", encoding="utf-8") as full, quiet_kfp():
        readable = ReadableLog(full, sys.stdout)
        with redirect_stdout(readable):
            local.init(
                local.SubprocessRunner(use_venv=False),
                pipeline_root=str(folder / "artifacts"),
                workspace_root=mkdtemp(prefix="kfp-workspace-"),  # kfp deletes it after each run
            )
            try:
                task = pipeline(**arguments)
            except RuntimeError as error:  # says that a task failed, not why
                step = readable.step or "the pipeline"
                raise JobFailed(f"{step} failed: {readable.last_words}; the whole log is {log}") from error
    return LocalRun(folder, dict(task.outputs))


@contextmanager
def quiet_kfp() -> Iterator[None]:
    """Hold back what kfp warns of and a local run cannot mean: images, caching, Python's end of life."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class ReadableLog(TextIOBase):
    """Writes all to one file, and to the other only the steps and what they say."""

    def __init__(self, full: TextIO, shown: TextIO) -> None:
        self.full, self.shown = full, shown
        self.step = ""
        self.last_words = "it said nothing"
        self.pending = ""
        self.skipping = False
        self.talking = False

    def write(self, text: str) -> int:
        """Take a piece of kfp's output."""
        self.full.write(text)
        *lines, self.pending = (self.pending + text).split("\n")
        for line in lines:
            self.take(line)
        return len(text)

    def flush(self) -> None:
        """Hand on what has been taken."""
        self.full.flush()
        self.shown.flush()

    def take(self, line: str) -> None:
        """Show a line, or keep it to the file."""
        plain = strip_colours(line)
        if " - INFO - Executing task " in plain:
            self.step = plain.rsplit("'", 2)[1]
            self.talking = True
            self.shown.write(f"── {self.step}\n")
        elif " finished with status " in plain:  # what follows are kfp's words on the task's outputs
            self.talking = False
        elif self.skipping:
            self.skipping = plain != "    }"
        elif "[KFP Executor" in plain:
            self.skipping = plain.endswith("Got executor_input:")
        elif plain.startswith("    ") and plain.strip() and self.talking:
            self.last_words = plain.strip()
            self.shown.write(f"   {plain[4:]}\n")
        self.shown.flush()


def strip_colours(line: str) -> str:
    """Take the escape sequences out of a line."""
    return re.sub(r"\x1b\[[0-9;]*m", "", line)
