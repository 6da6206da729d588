"""The same bytes, fetched in different ways: one way a process, with memory and CPU of its own.

    python -m tests.perf.fetchers WAY PLAN TARGET

PLAN is a JSON file: what is to be fetched, and how each way reaches it. What is printed is one JSON object:
seconds, CPU seconds and the peak of resident memory. Imports are not counted.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CONNECTIONS = 8
PIECE = 32 << 20
CHUNK = 1 << 20
SOURCES = "kfp_trainer.runtime_operator.workloads.fetch.sources"
Plan = dict[str, Any]
Go = Callable[[], None]


def ours(plan: Plan, target: Path) -> Go:
    """This project's fetch: verified, with manifest and journal."""
    import obstore

    from kfp_trainer.runtime_operator.workloads.fetch.engine import fetch
    from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
    from kfp_trainer.runtime_operator.workloads.fetch.order import Order
    from kfp_trainer.runtime_operator.workloads.fetch.pace import Pace, Patience
    from kfp_trainer.runtime_operator.workloads.fetch.reports import Reports
    from kfp_trainer.runtime_operator.workloads.fetch.schemes import SCHEMES
    from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection

    assert obstore
    import_module(f"{SOURCES}.{SCHEMES[plan['uri'].partition(':')[0]]}")
    order = Order("dataset", plan["uri"], target / "d", Selection("dataset"))
    return lambda: _discard(
        fetch(order, secrets=Secrets(plan["environ"]), report=Reports([]), pace=Pace(Patience()))
    )


def bare(plan: Plan, target: Path) -> Go:
    """The least that a parallel copy that also hashes can do: no retries, no names, no record."""
    return lambda: Bare(plan["files"], target).run()


def boto3(plan: Plan, target: Path) -> Go:
    """boto3's transfer manager, which does not hash."""
    import boto3 as library
    from boto3.s3.transfer import TransferConfig
    from s3transfer.manager import TransferManager

    environ = plan["environ"]
    client = library.client(
        "s3",
        endpoint_url=environ["ENDPOINT"],
        aws_access_key_id=environ["ACCESS_KEY_ID"],
        aws_secret_access_key=environ["SECRET_ACCESS_KEY"],
        region_name="us-east-1",
    )

    def go() -> None:
        bucket, _, prefix = plan["uri"].removeprefix("s3://").partition("/")
        with TransferManager(client, TransferConfig(max_concurrency=CONNECTIONS)) as manager:
            waiting = []
            for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
                for found in page.get("Contents", ()):
                    file = target / found["Key"]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    waiting.append(manager.download(bucket, found["Key"], str(file)))
            for each in waiting:
                each.result()

    return go


def hub(plan: Plan, target: Path) -> Go:
    """huggingface_hub's snapshot_download, which does not hash."""
    os.environ |= {
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    from huggingface_hub import snapshot_download

    environ = plan["environ"]
    name = plan["uri"].removeprefix("hf://")
    return lambda: _discard(
        snapshot_download(
            name,
            repo_type="dataset",
            endpoint=environ["HF_ENDPOINT"],
            local_dir=target / "d",
            max_workers=CONNECTIONS,
        )
    )


WAYS = {"ours": ours, "bare": bare, "boto3": boto3, "hub": hub}


class Bare:
    """Pieces in order on some threads, and one thread that hashes behind them."""

    def __init__(self, files: list[tuple[str, int]], target: Path) -> None:
        self._here = threading.local()
        self._digests: list[str] = []
        self._files = [(url, size, target / str(number)) for number, (url, size) in enumerate(files)]
        self._pieces = [
            (url, file, at, min(at + PIECE, size), threading.Event())
            for url, size, file in self._files
            for at in range(0, size, PIECE)
        ]

    def run(self) -> None:
        hasher = threading.Thread(target=self._hash)
        hasher.start()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self._fetch, self._pieces))
        hasher.join()

    def _fetch(self, piece: tuple[str, Path, int, int, threading.Event]) -> None:
        url, file, at, stop, done = piece
        parts = urlsplit(url)
        if not hasattr(self._here, "connection"):
            self._here.connection = http.client.HTTPConnection(parts.netloc)
            self._here.buffer = memoryview(bytearray(CHUNK))
        connection, buffer = self._here.connection, self._here.buffer
        connection.request("GET", f"{parts.path}?{parts.query}", headers={"Range": f"bytes={at}-{stop - 1}"})
        answer = connection.getresponse()
        fd = os.open(file, os.O_RDWR | os.O_CREAT)
        while count := answer.readinto(buffer):
            os.pwrite(fd, buffer[:count], at)
            at += count
        os.close(fd)
        done.set()

    def _hash(self) -> None:
        buffer = memoryview(bytearray(CHUNK))
        total, last, fd = hashlib.sha256(), None, -1
        for _, file, at, stop, done in self._pieces:
            done.wait()
            if file != last:
                self._digests.append(total.hexdigest())
                if fd >= 0:
                    os.close(fd)
                total, last, fd = hashlib.sha256(), file, os.open(file, os.O_RDONLY)
            while at < stop:
                count = os.preadv(fd, [buffer[: stop - at]], at)
                total.update(buffer[:count])
                at += count
        os.close(fd)


def _discard(_: object) -> None:
    return None


def _peak() -> int:
    """The most memory this process has had; getrusage would count what its parent had when it began."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(way: str, plan: str, target: str) -> None:
    """Fetch, and say what it took."""
    go = WAYS[way](json.loads(Path(plan).read_text()), Path(target))
    began, used = time.monotonic(), time.process_time()
    go()
    facts = {
        "seconds": time.monotonic() - began,
        "cpu": time.process_time() - used,
        "peak": _peak(),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
