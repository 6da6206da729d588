"""What a person sees of a local run: the steps' own words, with training as one line that moves.

A step's log is written for the Pipelines UI and for programs. Here the same is told once: the records of a
fetch and the scores in words, progress by the trainer's own line, which a terminal draws over and over, and
paths as they are in the run's folder.
"""

from __future__ import annotations

import json
import re
from io import TextIOBase
from pathlib import Path
from typing import TextIO

from kfp_trainer.runtime_operator.workloads.live import LiveLine

TWICE = re.compile(r"progress: \d+ %")
UNCOUNTED = re.compile(r"told: .*\(no-model\)$")
"""of a step that has no model to count tokens with; training counts them"""
SCORES = re.compile(r"(?:\w+=\S+ ?)+")
INDENT = "   "


class Screen(TextIOBase):
    """Writes lines to a terminal or a file."""

    def __init__(self, out: TextIO, *, folder: Path) -> None:
        self._out, self._folder = out, f"{folder}/"
        self._live = LiveLine(out, indent=INDENT)

    def write(self, text: str) -> int:
        """Take whole lines."""
        for line in text.splitlines():
            told = in_words(line.replace(self._folder, ""))
            if told is not None:
                self._live.say(told)
        return len(text)

    def flush(self) -> None:
        """Hand on what has been taken."""
        self._out.flush()


def in_words(line: str) -> str | None:
    """A line as people read it; None for one that says again what another says."""
    said = line.strip()
    if TWICE.match(said) or UNCOUNTED.match(said):
        return None
    if SCORES.fullmatch(said):
        return compared(said) or line
    if not said.startswith('{"event"'):
        return line
    try:
        record = json.loads(said)
    except ValueError:
        return line
    if record.get("event") != "end" or "bytes" not in record:
        return None
    return f"{INDENT}{record['source']}: {record['files']} files, {record['bytes'] / 1e6:.1f} MB, whole"


def compared(said: str) -> str:
    """Scores before and after, of a line that has both."""
    scores = dict(each.split("=", 1) for each in said.split())
    pairs = [(name, scores.get(f"{name}_base"), tuned) for name, tuned in scores.items()]
    told = [f"{name} {base} -> {tuned}" for name, base, tuned in pairs if base is not None]
    return f"{INDENT}{', '.join(told)}" if told else ""
