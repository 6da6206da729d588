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
from types import SimpleNamespace
from typing import Any, TextIO
from unittest.mock import patch

from kfp_trainer.runtime_operator.errors import JobFailed

from .screen import Screen

WORKSPACE = "workspace"
FAILURE = " finished with status FAILURE"
SILENCE = "it said nothing"
ERROR = "error: "


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A pipeline run that ended well."""

    folder: Path
    outputs: Mapping[str, Any]

    @property
    def reports(self) -> list[Path]:
        """The pages that its steps have left."""
        return sorted(self.folder.glob(f"{WORKSPACE}/**/*_report.html"))


def run_local(pipeline: Callable[..., Any], arguments: Mapping[str, Any], folder: Path) -> LocalRun:
    """Run the pipeline to its end; workspace, artifacts and the full log stay in `folder`."""
    from kfp import local

    workspace = folder / WORKSPACE
    workspace.mkdir(parents=True, exist_ok=True)
    log = folder / "pipeline.log"
    with log.open("w", encoding="utf-8") as full, quiet_kfp(), kept_workspace(), mended_loops():
        readable = ReadableLog(full, Screen(sys.stdout, folder=folder))
        with redirect_stdout(readable):
            local.init(
                local.SubprocessRunner(use_venv=False),
                pipeline_root=str(folder / "artifacts"),
                workspace_root=str(workspace),
            )
            try:
                task = pipeline(**arguments)
            except RuntimeError as error:  # says that a task failed, not why
                raise JobFailed(f"{readable.told()}; the whole log is {log}") from error
    return LocalRun(folder, dict(task.outputs))


@contextmanager
def quiet_kfp() -> Iterator[None]:
    """Hold back what kfp warns of and a local run cannot mean: images, caching, Python's end of life."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def kept_workspace() -> Iterator[None]:
    """Keep the workspace of a run, which kfp removes at its end: here it is what the run was for."""
    from kfp.local import pipeline_orchestrator

    with patch.object(pipeline_orchestrator, "shutil", SimpleNamespace(rmtree=lambda folder: None)):
        yield


@contextmanager
def mended_loops() -> Iterator[None]:
    """Let loops run here as on a server: kfp mixes up what they say and what they are given.

    Its iterations run side by side and lose their logs; so one goes after the other. And it puts the item of
    a loop in the place of whatever the loop takes from a task before it.
    """
    from kfp.local.orchestrator import enhanced_dag_orchestrator, task_spec_utils

    class Alone(enhanced_dag_orchestrator.ParallelExecutor):  # type: ignore[misc]  # kfp has no types
        def __init__(self) -> None:
            super().__init__(max_workers=1)
            self.conservative_max = 1

    make = task_spec_utils.create_parameter_loop_iteration_task_spec

    def make_iteration(task: Any, item: Any, name: str) -> Any:
        made = make(task, item, name)
        for each, given in task.inputs.parameters.items():
            if given.HasField("task_output_parameter"):
                made.inputs.parameters[each].CopyFrom(given)
        return made

    with (
        patch.object(enhanced_dag_orchestrator, "ParallelExecutor", Alone),
        patch.object(task_spec_utils, make.__name__, make_iteration),
    ):
        yield


class ReadableLog(TextIOBase):
    """Writes all to one file, and to the other only the steps and what they say.

    `failure` is the first step that failed, with its last words: behind it an exit handler still speaks.
    """

    def __init__(self, full: TextIO, shown: TextIO | TextIOBase) -> None:
        self.full, self.shown = full, shown
        self.step = ""
        self.last_words = SILENCE
        self.failure = ""
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

    def told(self) -> str:
        """How the run failed."""
        return self.failure or self.ended()

    def ended(self) -> str:
        """How the present step ended."""
        return f"{self.step or 'the pipeline'} failed: {self.last_words.removeprefix(ERROR)}"

    def hear(self, words: str) -> None:
        """Keep the last words of a step: its error from the first sentence on, else its last line."""
        in_error = self.last_words.startswith(ERROR)
        self.last_words = f"{self.last_words}; {words}" if in_error else words

    def take(self, line: str) -> None:
        """Show a line, or keep it to the file."""
        plain = strip_colours(line)
        if " - INFO - Executing task " in plain:
            self.step = plain.rsplit("'", 2)[1]
            self.last_words = SILENCE
            self.talking = True
            self.shown.write(f"── {self.step}\n")
        elif " finished with status " in plain:  # what follows are kfp's words on the task's outputs
            self.talking = False
            if plain.endswith(FAILURE) and not self.failure:
                self.failure = self.ended()
        elif self.skipping:
            self.skipping = plain != "    }"
        elif "[KFP Executor" in plain:
            self.skipping = plain.endswith("Got executor_input:")
        elif plain.startswith("    ") and plain.strip() and self.talking:
            self.hear(plain.strip())
            self.shown.write(f"   {plain[4:]}\n")
        self.shown.flush()


def strip_colours(line: str) -> str:
    """Take the escape sequences out of a line."""
    return re.sub(r"\x1b\[[0-9;]*m", "", line)
