"""Answer a folder of cases, or answer and compare it.

python -m tests.conformance_v1 answer IN_DIR OUT_DIR    one answer a case, in a file of the same name
python -m tests.conformance_v1 check [DIR]              each path that differs without leave, and a count
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import yaml

from tests.conformance.__main__ import SHOWN, PlainDumper, read_cases

from .answer import try_to_answer
from .compare import faults
from .not_served import NOT_SERVED

CASES = Path(__file__).parent / "cases"


def main() -> int:
    """Do what the arguments say; 1 if a case is answered wrongly."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance_v1", description=__doc__.splitlines()[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    answering = verbs.add_parser("answer", help="write an answer for each case of a folder")
    answering.add_argument("source", type=Path, metavar="IN_DIR")
    answering.add_argument("target", type=Path, metavar="OUT_DIR")
    checking = verbs.add_parser("check", help="compare our answers with what the cases expect")
    checking.add_argument("source", type=Path, metavar="DIR", nargs="?", default=CASES)
    arguments = parser.parse_args()
    if arguments.verb == "answer":
        return write_answers(arguments.source, arguments.target)
    return check(arguments.source)


def write_answers(source: Path, target: Path) -> int:
    """Write one answer file a case, under the case's name; a case that cannot be answered is told."""
    target.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path, case in read_cases(source):
        given, problem = try_to_answer(case)
        failed += problem is not None
        if problem is not None:
            print(f"{path.stem}: {problem}", file=sys.stderr)
        text = yaml.dump(given, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)
        (target / path.name).write_text(text, encoding="utf-8")
    return int(failed > 0)


def check(source: Path) -> int:
    """Print where our answers differ, why if that is known, and how many cases of each topic are right."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for path, case in read_cases(source):
        given, problem = try_to_answer(case)
        found = [problem] if problem else [str(each) for each in faults(case, given)]
        (wrong if found else right)[case["topic"]] += 1
        if found:
            known = NOT_SERVED.get(path.stem)
            print(f"{path.stem} [{case['topic']}]" + (f", known: {known.why}" if known else ""))
            print("".join(f"    {line}\n" for line in found[:SHOWN]), end="")
    for topic in sorted(wrong):
        print(f"{topic}: {right[topic]} of {right[topic] + wrong[topic]}")
    print(f"{right.total()} of {right.total() + wrong.total()} cases right")
    return int(wrong.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
