"""Answer a folder of cases, or answer and compare it.

python -m tests.conformance_jobset answer IN_DIR OUT_DIR    one answer a case, in a file of the same name
python -m tests.conformance_jobset check [DIR]              each path that differs without leave, and a count
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from .answer import CASES, answer
from .compare import faults

SHOWN = 8  # differences of one case; the first tells most


def main() -> int:
    """Do what the arguments say; 1 if a case is answered wrongly."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance_jobset", description=__doc__.splitlines()[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    answering = verbs.add_parser("answer", help="write an answer for each case of a folder")
    answering.add_argument("source", type=Path, metavar="IN_DIR")
    answering.add_argument("target", type=Path, metavar="OUT_DIR")
    checking = verbs.add_parser("check", help="compare our answers with what the cases expect")
    checking.add_argument("source", type=Path, metavar="DIR", nargs="?", default=CASES)
    checking.add_argument(
        "--allow", action="append", default=[], metavar="GLOB", help="paths that may differ"
    )
    arguments = parser.parse_args()
    if arguments.verb == "answer":
        return write_answers(arguments.source, arguments.target)
    return check(arguments.source, arguments.allow)


def write_answers(source: Path, target: Path) -> int:
    """Write one answer file a case, under the case's name; a case that cannot be answered is told."""
    target.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path, case in read_cases(source):
        given, problem = try_to_answer(case)
        if problem:
            failed += 1
            print(f"{path.stem}: {problem}", file=sys.stderr)
        text = yaml.dump(given, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)
        (target / path.name).write_text(text, encoding="utf-8")
    return int(failed > 0)


def check(source: Path, allowed: list[str]) -> int:
    """Print where our answers differ, and how many cases are right."""
    right = total = 0
    for path, case in read_cases(source):
        given, problem = try_to_answer(case)
        found = [problem] if problem else [str(each) for each in faults(case, given, allowed)]
        total, right = total + 1, right + (not found)
        if found:
            print(f"{path.stem} [{case.get('topic', '')}]")
            print("".join(f"    {line}\n" for line in found[:SHOWN]), end="")
    print(f"{right} of {total} cases right")
    return int(right < total)


def read_cases(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Read the cases of a folder by name."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted(folder.glob("*.yaml")):
        yield path, yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def try_to_answer(case: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Answer a case; a case that breaks our code is one wrong answer, not the end of the run."""
    try:
        return answer(case), None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told and the others go on
        return {}, f"{type(error).__name__}: {error}"


class PlainDumper(yaml.SafeDumper):
    """Writes shared values in full: an answer is compared, not edited."""

    def ignore_aliases(self, data: object) -> bool:
        return True


if __name__ == "__main__":
    sys.exit(main())
