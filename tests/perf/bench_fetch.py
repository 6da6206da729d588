"""Fetching beside its peers, same run, over loopback: rate, CPU and peak memory.

    python -m tests.perf.bench_fetch [ROUNDS]

S3 is MinIO, built from its Go module; the hub is the tests' own. `bare` is a parallel copy that also hashes
and can do nothing else: the limit is 0.8 of its rate. The peers do not hash; the limit is to be level with
them, within the noise of a shared machine. Ways take turns, and the quickest turn of each counts, which was
disturbed least. Files land in memory where there is /dev/shm, so that no disk is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.perf.fetchers import WAYS, Plan
from tests.servers import go_program
from tests.servers.hub import Hub
from tests.servers.minio import PASSWORD, USER, Minio

ROUNDS = 5
MEGA = 1_000_000
LEAST_OF_BARE, LEAST_OF_PEER = 0.8, 0.95
S3_ROWS = {
    "1 object of 1 GB": (1, 1000 * MEGA),
    "20 objects of 40 MB": (20, 40 * MEGA),
    "2,000 objects of 20 KB": (2000, 20_000),
}
HUB_ROWS = {"2 files of 300 MB and 40 of 20 KB": [300 * MEGA] * 2 + [20_000] * 40}


@dataclass(frozen=True, slots=True)
class Row:
    """What one way came to in one row: the quickest turn, the least CPU time, the highest memory."""

    name: str
    way: str
    rate: float
    cpu: float
    peak: float


def main(arguments: Sequence[str] = ()) -> int:
    """Print the tables; 1 if a limit is passed."""
    rounds = int(arguments[0]) if arguments else ROUNDS
    with TemporaryDirectory(dir=memory()) as scratch:
        rows = list(measure(Path(scratch), rounds))
    print("| what | way | MB/s | CPU s/GB | peak MB | ours to it |\n|---|---|---|---|---|---|")
    failed = 0
    for row in rows:
        mine = next(each for each in rows if (each.name, each.way) == (row.name, "ours"))
        ratio = mine.rate / row.rate
        failed += ratio < (LEAST_OF_BARE if row.way == "bare" else LEAST_OF_PEER)
        numbers = f"{row.rate / MEGA:.0f} | {row.cpu:.2f} | {row.peak / MEGA:.0f} | {ratio:.2f}"
        print(f"| {row.name} | {row.way} | {numbers} |")
    return int(failed > 0)


def memory() -> Path | None:
    """Where files land in memory, if there is such a place."""
    place = Path("/dev/shm")
    return place if place.is_dir() else None


def measure(scratch: Path, rounds: int) -> Iterator[Row]:
    """All rows."""
    if why := go_program.why_not():
        print(f"S3 cannot be measured here: {why}")
    else:
        with Minio(scratch / "minio") as minio:
            client = minio.client()
            client.create_bucket(Bucket="bucket")
            for number, (name, (count, size)) in enumerate(S3_ROWS.items()):
                fill(client, f"row{number}", count, size)
                plan = s3_plan(minio, f"row{number}", count, size)
                yield from compare(name, ["ours", "bare", "boto3"], plan, scratch, rounds)
            client.close()
    for name, sizes in HUB_ROWS.items():
        with Hub() as hub:
            hub.add(
                "org/data", {f"{n}.bin": os.urandom(size) for n, size in enumerate(sizes)}, kind="dataset"
            )
            environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(scratch / "home")}
            plan = {"uri": "hf://org/data", "environ": environ, "bytes": sum(sizes)}
            yield from compare(f"hub: {name}", ["ours", "hub"], plan, scratch, rounds)


def fill(client: Any, prefix: str, count: int, size: int) -> None:
    """Objects as people upload them: large ones in parts."""
    from io import BytesIO

    from boto3.s3.transfer import TransferConfig

    config = TransferConfig(multipart_chunksize=32 << 20)
    for number in range(count):
        client.upload_fileobj(BytesIO(os.urandom(size)), "bucket", f"{prefix}/{number:05}.bin", Config=config)


def s3_plan(minio: Minio, prefix: str, count: int, size: int) -> Plan:
    """How each way reaches the objects."""
    import obstore
    from obstore.store import S3Store

    store = S3Store(
        "bucket",
        endpoint=minio.url,
        access_key_id=USER,
        secret_access_key=PASSWORD,
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )
    paths = [f"{prefix}/{number:05}.bin" for number in range(count)]
    urls = obstore.sign(store, "GET", paths, timedelta(hours=6))
    return {
        "uri": f"s3://bucket/{prefix}",
        "environ": minio.environ,
        "files": [(url, size) for url in urls],
        "bytes": count * size,
    }


def compare(name: str, ways: Sequence[str], plan: Plan, scratch: Path, rounds: int) -> Iterator[Row]:
    """Let the ways take turns, whoever begins changing."""
    (scratch / "plan.json").write_text(json.dumps(plan))
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for turn in range(rounds + 1):
        for way in [*ways[turn % len(ways) :], *ways[: turn % len(ways)]]:
            with folder(scratch / "target") as target:
                facts = run(way, scratch / "plan.json", target)
            if turn:  # the first round only warms the caches
                found[way].append(facts)
    for way, facts in found.items():
        seconds, cpu = (min(each[key] for each in facts) for key in ("seconds", "cpu"))
        yield Row(
            name,
            way,
            plan["bytes"] / seconds,
            cpu / plan["bytes"] * 1e9,
            max(each["peak"] for each in facts),
        )


def run(way: str, plan: Path, target: Path) -> dict[str, float]:
    """One fetch in a process of its own."""
    assert way in WAYS
    command = [sys.executable, "-m", "tests.perf.fetchers", way, str(plan), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    facts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return facts


@contextmanager
def folder(path: Path) -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
