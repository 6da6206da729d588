"""A check streams: eight times the rows need no more memory to speak of."""

from functools import partial
from pathlib import Path

import pytest

from tests.perf.bench_dataset import make_model, run, write_lines, write_parquet

ROWS, TIMES = 3000, 8
GROWTH = 150.0  # MB, of which allocators take up to a hundred; the rows held in memory would be 280
GROUP = 1000  # rows that Parquet is read by, so that both files have several
WRITERS = {"rows.jsonl": write_lines, "rows.parquet": partial(write_parquet, group=GROUP)}


@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_with_the_rows(name: str, tmp_path: Path) -> None:
    model = make_model(tmp_path / "model")
    few = run(WRITERS[name](tmp_path / f"few_{name}", ROWS), model, tmp_path / "out")
    many = run(WRITERS[name](tmp_path / f"many_{name}", TIMES * ROWS), model, tmp_path / "out")
    assert many.megabytes < few.megabytes + GROWTH
    assert many.megabytes < 600
