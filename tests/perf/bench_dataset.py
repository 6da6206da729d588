"""How long a dataset check of 100,000 conversations takes, and how much memory it needs at most.

    python -m tests.perf.bench_dataset [MODEL]

The command runs as a person runs it. Its memory is the sum of what each of its processes ever had at once,
which is more than they had together. Without a model folder a small tokenizer is made here; its pieces are
shorter than a real one's, so a row has more of them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

ROWS = 100_000
MOST_SECONDS, MOST_MEGABYTES = 60.0, 1000.0
LETTERS = "aaabcdeeeefghiiijklmnooopqrsttuuvwxyz"


class Measured(NamedTuple):
    """One run of the command."""

    seconds: float
    cpu: float
    megabytes: float
    tokens: int


def main() -> int:
    """Print the table; 1 if a figure is above its limit."""
    worst = 0
    print("| 100,000 conversations | input MB | tokens a row | CPU s | seconds | limit | MB | limit |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        model = Path(sys.argv[1]) if len(sys.argv) > 1 else make_model(home / "model")
        for file in (write_lines(home / "rows.jsonl", ROWS), write_parquet(home / "rows.parquet", ROWS)):
            ran = run(file, model, home / "out")
            size = file.stat().st_size / 1e6
            print(
                f"| {file.suffix[1:]} | {size:.0f} | {ran.tokens / ROWS:.0f} | {ran.cpu:.1f} "
                f"| {ran.seconds:.1f} | {MOST_SECONDS:.0f} | {ran.megabytes:.0f} | {MOST_MEGABYTES:.0f} |",
                flush=True,
            )
            worst |= ran.seconds > MOST_SECONDS or ran.megabytes > MOST_MEGABYTES
    return int(worst)


def run(dataset: Path, model: Path, output: Path) -> Measured:
    """Check `dataset` in a process of its own and watch its memory."""
    module = "kfp_trainer.runtime_operator.workloads.dataset"
    arguments = ["check", str(dataset), "--model", str(model), "--output", str(output)]
    begun, cpu = time.perf_counter(), _cpu()
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.DEVNULL)
    highest: dict[int, int] = {}
    while process.poll() is None:
        highest |= _highest(process.pid)
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            continue
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise RuntimeError(f"the check ended with {process.returncode}")
    report = json.loads((output / "dataset_report.json").read_text())
    return Measured(seconds, _cpu() - cpu, sum(highest.values()) / 1000, report["lengths"]["total"])


def conversations(rows: int) -> Iterator[dict[str, object]]:
    """Conversations of one to three questions, a hundred words in the mean, none like another."""
    random = Random(1)
    words = ["".join(random.choices(LETTERS, k=random.randint(2, 9))) for _ in range(5000)]
    for number in range(rows):
        turns = [{"role": "system", "content": "You are a helpful assistant."}] if number % 3 == 0 else []
        for _ in range(random.randint(1, 3)):
            turns.append({"role": "user", "content": _sentence(random, words, 8, 30)})
            turns.append({"role": "assistant", "content": _sentence(random, words, 15, 60)})
        yield {"id": number, "messages": turns}


def write_lines(file: Path, rows: int) -> Path:
    """The conversations as JSON lines."""
    with file.open("w", encoding="utf-8") as out:
        for row in conversations(rows):
            out.write(json.dumps(row) + "\n")
    return file


def write_parquet(file: Path, rows: int, *, group: int = 20_000) -> Path:
    """The conversations as Parquet, in row groups of ordinary size if no other is asked for."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(list(conversations(rows)))
    parquet.write_table(table, file, row_group_size=group)
    return file


def make_model(folder: Path) -> Path:
    """A folder with the demo's kind of tokenizer, trained on such sentences."""
    from kfp_trainer.runtime_operator.workloads.tiny.tokenizer import make_tokenizer

    tokenizer = make_tokenizer(json.dumps(row) for row in conversations(300))
    tokenizer.model_max_length = 1 << 62
    tokenizer.save_pretrained(folder)
    (folder / "config.json").write_text('{"max_position_embeddings": 8192}')
    return folder


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sentence(random: Random, words: list[str], least: int, most: int) -> str:
    return " ".join(random.choices(words, k=random.randint(least, most))).capitalize() + "."


def _highest(process: int) -> dict[int, int]:
    """The most memory a process and those below it ever had, in KB, as far as they still live."""
    found: dict[int, int] = {}
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                found[process] = int(line.split()[1])
    except OSError:
        return found
    for child in children:
        found |= _highest(int(child))
    return found


if __name__ == "__main__":
    sys.exit(main())
