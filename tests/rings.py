"""Run the rings of tests one after the other and print one total each: `python -m tests.rings [RING …]`.

A ring is a set of folders with one kind of proof; tests that lie beside a component belong to one by their
name. A ring that cannot run on this machine says why and is counted as skipped. The last line sums up, in a
form that a machine reads as well.
"""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent


def always() -> str:
    """Nothing is needed beyond the environment that `make test` sets up."""
    return ""


@dataclass(frozen=True)
class Ring:
    """Folders of tests that prove one kind of thing."""

    proves: str
    folders: tuple[str, ...]
    workers: int = 1
    why_not: Callable[[], str] = always
    beside: str = ""
    """the name of tests that lie beside components"""

    def paths(self) -> list[str]:
        """The folders that have tests, and the tests elsewhere."""
        folders = [f"tests/{name}" for name in self.folders]
        found = [folder for folder in folders if any((ROOT / folder).glob("**/test_*.py"))]
        elsewhere = sorted(ROOT.glob(f"components/**/{self.beside}")) if self.beside else []
        return [*found, *(str(path.relative_to(ROOT)) for path in elsewhere)]


RINGS = {
    "unit": Ring("pure rules, as tables", ("unit",), 2, beside="test_component_unit.py"),
    "conformance": Ring(
        "what Trainer's, JobSet's and the Training Operator's own code builds",
        ("conformance", "conformance_jobset", "conformance_v1"),
        2,
    ),
    "local": Ring("real processes, real training", ("local",), 2, beside="test_component_local.py"),
    "clients": Ring("the wheel, kfp and the official SDK", ("clients",)),
    # most of its time is waiting: three planes keep two cores busy
    "cluster": Ring("real Kubernetes parts", ("cluster",), workers=3),
    "perf": Ring("ratios to our peers", ("perf",)),
}


@dataclass
class Total:
    """What one ring came to."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def main(names: list[str]) -> int:
    """Run the rings of these names, or all; return the exit code."""
    unknown = set(names) - set(RINGS)
    if unknown:
        print(f"no ring {', '.join(sorted(unknown))}; there are {', '.join(RINGS)}", file=sys.stderr)
        return 2
    totals = {}
    for name in names or RINGS:
        print(f"== {name}: {RINGS[name].proves}", flush=True)
        totals[name] = run_ring(RINGS[name])
    print_totals(totals)
    return int(any(total.failed for total in totals.values()))


def run_ring(ring: Ring) -> Total:
    """Run one ring in a pytest of its own."""
    if reason := ring.why_not():
        return Total(skipped=1, notes=[f"cannot run here: {reason}"])
    paths = ring.paths()
    if not paths:
        return Total(skipped=1, notes=["has no tests yet"])
    started = time.monotonic()
    with TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        # a file stays with one worker, for what a file sets up may be dear: a plane, a model, an installation
        workers = [] if ring.workers == 1 else ["-n", str(ring.workers), "--dist", "loadfile"]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--no-header",
            f"--junitxml={report}",
            *workers,
            *paths,
        ]
        # models this small compute slower with more threads than free cores
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        code = subprocess.run(command, cwd=ROOT, env=environment).returncode
        total = read_report(report) if report.exists() else Total(failed=1, notes=["pytest wrote no report"])
    total.seconds = time.monotonic() - started
    if code and not total.failed:
        total.failed = 1
        total.notes.append(f"pytest ended with code {code}")
    return total


def read_report(report: Path) -> Total:
    """Count the outcomes in a JUnit report, and the skips by their reason."""
    total, reasons = Total(), Counter[str]()
    for case in ET.parse(report).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            total.failed += 1
        elif skip is not None:
            total.skipped += 1
            reasons[str(skip.get("message"))] += 1
        else:
            total.passed += 1
    total.notes += [f"{number} skipped: {reason}" for reason, number in reasons.most_common()]
    return total


def print_totals(totals: dict[str, Total]) -> None:
    """Print a line a ring, why something was skipped, and the sum."""
    print()
    for name, total in totals.items():
        outcome = f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped"
        print(f"{name:12} {outcome:38} {total.seconds:6.1f} s")
        for note in total.notes:
            print(f"{'':12}   {note}")
    sums = [
        sum(getattr(total, kind) for total in totals.values()) for kind in ("passed", "failed", "skipped")
    ]
    print("\n{} passed, {} failed, {} skipped".format(*sums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
