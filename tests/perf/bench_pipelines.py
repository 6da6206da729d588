"""How long our pipelines take to compile, how large they are, and how large a finished run of each would be.

    python -m tests.perf.bench_pipelines

Compiling is measured as CPU time, the best of several, after kfp has been imported. The finished Workflow is
added up: 22 KB a task, and nine times each byte that its containers are told.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.pipeline_ir import finished_size

TIMES = 7
MOST_SECONDS, MOST_KB = 0.1, 64


def main() -> int:
    """Print the table; 1 if a figure is above its limit."""
    from kfp_trainer.pipelines.catalogue import PIPELINES
    from kfp_trainer.pipelines.compiling import compile_pipeline

    worst = 0
    print("| pipeline | compile ms | limit | KB | limit | finished Workflow KB |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in PIPELINES:
            file = Path(folder) / f"{name}.yaml"
            compile_pipeline(name, file)
            seconds = min(_measure(name, file) for _ in range(TIMES))
            size = file.stat().st_size / 1024
            print(
                f"| {name} | {seconds * 1000:.0f} | {MOST_SECONDS * 1000:.0f} | {size:.0f} | {MOST_KB} "
                f"| {finished_size(file) / 1024:.0f} |",
                flush=True,
            )
            worst |= seconds > MOST_SECONDS or size > MOST_KB
    return int(worst)


def _measure(name: str, file: Path) -> float:
    from kfp_trainer.pipelines.compiling import compile_pipeline

    begun = time.process_time()
    compile_pipeline(name, file)
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
