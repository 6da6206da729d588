"""Fetching stays near a bare copy that also hashes: in CPU time, which other work hardly changes.

Rates are for the benchmark, on a machine that does nothing else.
"""

from pathlib import Path

import pytest

from tests.perf.bench_fetch import compare, fill, s3_plan
from tests.servers import go_program
from tests.servers.minio import Minio

COUNT, SIZE = 3, 100_000_000
MOST_CPU, MOST_MEMORY = 1.8, 100_000_000


@pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not())
def test_it_is_near_a_bare_copy(tmp_path: Path) -> None:
    with Minio(tmp_path / "minio") as minio:
        client = minio.client()
        client.create_bucket(Bucket="bucket")
        fill(client, "row", COUNT, SIZE)
        client.close()
        plan = s3_plan(minio, "row", COUNT, SIZE)
        ours, bare = compare("guard", ["ours", "bare"], plan, tmp_path, 3)
    assert ours.cpu <= MOST_CPU * bare.cpu, f"{ours.cpu:.2f} s/GB, bare {bare.cpu:.2f}"
    assert ours.peak <= MOST_MEMORY, f"{ours.peak / 1e6:.0f} MB"
