"""Cases that were recorded from real programs: read, answered by ours, and compared.

Each ring of recordings is a command of two verbs; OUT_DIR gets one answer a case, in a file of the same name:

    python -m tests.NAME answer IN_DIR OUT_DIR
    python -m tests.NAME check [DIR] [--allow GLOB]    each path that differs without leave, and a count
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Case = dict[str, Any]
SHOWN = 8  # differences of one case; the first tells most


@dataclass(frozen=True)
class Difference:
    """One path, what was recorded there, and what the answer has."""

    path: str
    want: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path}: want {str(self.want)[:300]}, got {str(self.got)[:300]}"


@dataclass(frozen=True)
class Recordings:
    """A folder of cases, how we answer one, and how an answer is compared."""

    name: str
    folder: Path
    answer: Callable[[Case], Any]
    faults: Callable[[Case, Any], Sequence[Difference]]
    known: Mapping[str, str] = field(default_factory=dict)
    """why a case differs, where that is known"""

    def try_to_answer(self, case: Case) -> tuple[Any, str]:
        """Answer a case; one that breaks our code is one wrong answer, not the end of the run."""
        try:
            return self.answer(case), ""
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told and the others go on
            at = traceback.extract_tb(error.__traceback__)[-1]
            return {}, f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"


def main(recordings: Recordings, arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; 1 if a case is answered wrongly."""
    about = "Answer a folder of cases, or answer and compare it."
    parser = argparse.ArgumentParser(prog=f"python -m tests.{recordings.name}", description=about)
    verbs = parser.add_subparsers(dest="verb", required=True)
    answering = verbs.add_parser("answer", help="write an answer for each case of a folder")
    answering.add_argument("source", type=Path, metavar="IN_DIR")
    answering.add_argument("target", type=Path, metavar="OUT_DIR")
    checking = verbs.add_parser("check", help="compare our answers with what the cases expect")
    checking.add_argument("source", type=Path, metavar="DIR", nargs="?", default=recordings.folder)
    checking.add_argument(
        "--allow", action="append", default=[], metavar="GLOB", help="paths that may differ"
    )
    given = parser.parse_args(arguments)
    if given.verb == "answer":
        return write_answers(recordings, given.source, given.target)
    return check(recordings, given.source, given.allow)


def write_answers(recordings: Recordings, source: Path, target: Path) -> int:
    """Write one answer file a case, under the case's name; a case that cannot be answered is told."""
    target.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path, case in read_cases(source):
        given, problem = recordings.try_to_answer(case)
        if problem:
            failed += 1
            print(f"{path.stem}: {problem}", file=sys.stderr)
        text = yaml.dump(given, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)
        (target / path.name).write_text(text, encoding="utf-8")
    return int(failed > 0)


def check(recordings: Recordings, source: Path, allowed: Sequence[str]) -> int:
    """Print where our answers differ, why if that is known, and how many cases of each topic are right."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for path, case in read_cases(source):
        found, topic = list(_wrong(recordings, case, allowed)), case.get("topic", "")
        (wrong if found else right)[topic] += 1
        if found:
            why = recordings.known.get(path.stem)
            print(f"{path.stem} [{topic}]" + (f", known: {why}" if why else ""))
            print("".join(f"    {line}\n" for line in found[:SHOWN]), end="")
    for topic in sorted(wrong):
        print(f"{topic}: {right[topic]} of {right[topic] + wrong[topic]}")
    print(f"{right.total()} of {right.total() + wrong.total()} cases right")
    return int(wrong.total() > 0)


def _wrong(recordings: Recordings, case: Case, allowed: Sequence[str]) -> Iterator[str]:
    given, problem = recordings.try_to_answer(case)
    if problem:
        yield problem
        return
    for each in recordings.faults(case, given):
        if not any(fnmatch.fnmatchcase(each.path, glob) for glob in allowed):
            yield str(each)


def read_cases(folder: Path) -> Iterator[tuple[Path, Case]]:
    """Read the cases of a folder by name."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted(folder.glob("*.yaml")):
        yield path, yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


class PlainDumper(yaml.SafeDumper):
    """Writes shared values in full: an answer is compared, not edited."""

    def ignore_aliases(self, data: object) -> bool:
        return True
