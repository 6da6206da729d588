"""Fetching stays near a bare copy that also hashes: in CPU time, which other work changes little.

What it changes it only adds, a half in a bad minute; so the least of many turns counts, and turns are added
until the limit holds. A fetch that has become dearer is so in every turn. Rates are for the benchmark, on a
machine that does nothing else.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.perf.bench_fetch import Row, compare, fill, memory, s3_plan
from tests.perf.fetchers import Plan
from tests.servers import go_program
from tests.servers.minio import Minio

COUNT, SIZE = 3, 100_000_000
MOST_CPU, MOST_MEMORY = 1.8, 100_000_000
TURNS, TRIES = 3, 5
WAYS = ("ours", "bare")


@pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not())
def test_it_is_near_a_bare_copy(tmp_path: Path) -> None:
    with TemporaryDirectory(dir=memory()) as scratch, Minio(tmp_path / "minio") as minio:
        client = minio.client()
        client.create_bucket(Bucket="bucket")
        fill(client, "row", COUNT, SIZE)
        client.close()
        ours, bare = least(s3_plan(minio, "row", COUNT, SIZE), Path(scratch))
    assert ours.cpu <= MOST_CPU * bare.cpu, f"{ours.cpu:.2f} s/GB, bare {bare.cpu:.2f}"
    assert ours.peak <= MOST_MEMORY, f"{ours.peak / 1e6:.0f} MB"


def least(plan: Plan, scratch: Path) -> tuple[Row, Row]:
    """The least CPU time and the highest memory of ours and of the bare copy, when turns enough were made."""
    best: dict[str, Row] = {}
    for _ in range(TRIES):
        for row in compare("guard", WAYS, plan, scratch, TURNS):
            known = best.get(row.way, row)
            best[row.way] = replace(row, cpu=min(known.cpu, row.cpu), peak=max(known.peak, row.peak))
        if best["ours"].cpu <= MOST_CPU * best["bare"].cpu:
            break
    return best["ours"], best["bare"]
