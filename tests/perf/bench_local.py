"""What a job costs beside the same program under bare torchrun: CPU time a step, time to the first line.

    python -m tests.perf.bench_local [PAIRS]

Both are run in pairs, turn by turn, the one that goes first changing, so that a machine that becomes busy
slows both. CPU time of a step is that of every process involved while the steps run: torchrun and its worker,
and for a job its runner and launchers too. The bound is that of a bootstrap over the pairs.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kfp_trainer.runtime_operator.jobs import Line, LocalJobs

PAIRS = 10
STEPS = 40
BIN = Path(sys.executable).parent  # the programs of this environment, whatever PATH says
MOST_MEDIAN, MOST_BOUND, MOST_SECONDS = 0.01, 0.03, 1.5
TICK = os.sysconf("SC_CLK_TCK")
PROGRAM = f"""
import time
print("first", flush=True)
import torch
torch.set_num_threads(1)
values = torch.rand(700, 700)
print("begin", flush=True)
time.sleep(0.7)  # whoever measures takes the clocks now, and again after the end
for step in range({STEPS}):
    values = torch.tanh(values @ values)
    for _ in range(14):
        values @ values
    print(f"step={{step}} loss={{values.mean():.4f}}", flush=True)
print("end", flush=True)
time.sleep(0.7)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run cost."""

    per_step: float
    """CPU seconds"""
    first_line: float
    """seconds"""


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table; 1 if a limit is passed."""
    pairs = int(arguments[0]) if arguments else PAIRS
    with TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        found = [measure_pair(program, Path(folder), number) for number in range(pairs)]
    ratios = [ours.per_step / bare.per_step - 1 for bare, ours in found]
    later = [ours.first_line - bare.first_line for bare, ours in found]
    rows = [
        ("CPU time a step, median", statistics.median(ratios), MOST_MEDIAN, "{:+.2%}"),
        ("CPU time a step, upper bound (97.5 %)", upper_bound(ratios), MOST_BOUND, "{:+.2%}"),
        ("first line later, median", statistics.median(later), MOST_SECONDS, "{:+.2f} s"),
    ]
    print(f"| a job beside bare torchrun, {pairs} pairs | measured | limit |\n|---|---|---|")
    for name, value, limit, form in rows:
        print(f"| {name} | {form.format(value)} | {form.format(limit)} |")
    return int(any(value > limit for _, value, limit, _ in rows))


def measure_pair(program: Path, folder: Path, number: int) -> tuple[Cost, Cost]:
    """One run of each; the one that goes first changes."""
    sides: list[Callable[[], Cost]] = [
        lambda: bare(program),
        lambda: job(program, folder / "jobs", f"bench-{number}"),
    ]
    order = [0, 1] if number % 2 == 0 else [1, 0]
    costs = {side: sides[side]() for side in order}
    return costs[0], costs[1]


def bare(program: Path) -> Cost:
    """The program under torchrun."""
    begin = time.monotonic()
    command = [BIN / "torchrun", "--nproc-per-node=1", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = (line.rstrip("\n") for line in process.stdout)
        return watch(lines, begin, lambda: tree(process.pid))


def job(program: Path, jobs: Path, name: str) -> Cost:
    """The program as a TrainJob, started by the command line's own code in a process of its own."""
    begin = time.monotonic()
    file = jobs.parent / f"{name}.yaml"
    file.write_text(DOCUMENT.format(name=name, program=program))
    home = {**os.environ, "KFP_TRAINER_HOME": str(jobs.parent)}
    subprocess.run(
        [BIN / "kfp-trainer", "run", "--detach", "-f", file], check=True, env=home, stdout=subprocess.DEVNULL
    )
    client = LocalJobs(jobs)
    lines = (news.text for news in client.follow(name) if isinstance(news, Line))
    return watch(lines, begin, lambda: involved(name))


def watch(lines: Iterator[str], begin: float, processes: Callable[[], set[int]]) -> Cost:
    """Take the CPU time of all processes at the beginning and the end of the steps."""
    first, used = 0.0, 0.0
    for line in lines:
        if line == "first":
            first = time.monotonic() - begin
        elif line in ("begin", "end"):
            used = cpu_seconds(processes()) - used
    return Cost(used / STEPS, first)


def cpu_seconds(processes: set[int]) -> float:
    """CPU time that living processes have used so far."""
    total = 0
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def tree(root: int) -> set[int]:
    """A process and all below it."""
    found = {root}
    for _ in range(5):
        found |= {child for child, parent in parents() if parent in found}
    return found


def involved(name: str) -> set[int]:
    """The runner and the launchers of a job, and all below them."""
    marks = (f"default/{name}".encode(), f"{name}-node".encode())
    processes = [
        each for each in Path("/proc").glob("[0-9]*") if any(mark in _command(each) for mark in marks)
    ]
    return {process for each in processes for process in tree(int(each.name))}


def _command(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


def parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    for each in Path("/proc").glob("[0-9]*"):
        try:
            yield int(each.name), int((each / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue


def upper_bound(values: list[float]) -> float:
    """The upper end of the median's interval, by bootstrap with fixed dice."""
    dice = random.Random(1)
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(4000))
    return medians[int(len(medians) * 0.975)]


DOCUMENT = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {{command: [torchrun, {program}]}}
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
