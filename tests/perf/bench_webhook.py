"""How long an API server waits for admission at 100 creates a second, over TLS.

    python -m tests.perf.bench_webhook [SECONDS]

The webhook runs in a process of its own, with the caches of an operator behind it. Reviews of TrainJobs of 4
KB come at fixed times over four kept connections, as from an API server; a review that waits for its turn is
counted from the time at which it was due.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import orjson
import uvloop

from kfp_trainer.runtime_operator.api.names import MULTIKUEUE
from kfp_trainer.runtime_operator.controller.kinds import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBSETS,
    TRAIN_JOBS,
    TRAINING_RUNTIMES,
)
from kfp_trainer.runtime_operator.kube.resource import SECRETS
from kfp_trainer.runtime_operator.service.parts import Parts
from kfp_trainer.runtime_operator.service.process import serve
from kfp_trainer.runtime_operator.service.settings import ServiceSettings
from kfp_trainer.runtime_operator.webhook.server import path_of
from tests.fake_api import FakeApi

from . import floor

RATE, CONNECTIONS, KNOWN_JOBS = 100, 4, 1000
SECONDS = 20.0
MOST_P99 = 0.050
PATHS = {"create": path_of("validate", "TrainJob"), "times of patches": path_of("mutate", "TrainJob")}


def main(seconds: float = SECONDS) -> int:
    """Print the table; 1 if the slowest of a hundred takes too long."""
    with TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.executable, "-m", __spec__.name, "serve", folder])
        try:
            rows = {what: uvloop.run(ask(Path(folder), path, seconds)) for what, path in PATHS.items()}
            cpu = cpu_seconds(server.pid)
        finally:
            server.terminate()
            server.wait()
    asked = sum(len(times) for times in rows.values())
    print(
        f"| {RATE} reviews/s over TLS | p50 ms | p99 ms | slowest ms | limit of p99 |\n|---|---|---|---|---|"
    )
    for what, times in rows.items():
        p50, p99, worst = (1000 * times[int(len(times) * part)] for part in (0.5, 0.99, 0.99999))
        print(f"| {what} | {p50:.2f} | {p99:.2f} | {worst:.2f} | {1000 * MOST_P99:.0f} |")
    print(f"\nCPU of the webhook, with its start: {1000 * cpu / asked:.2f} ms a review.")
    return int(any(times[int(len(times) * 0.99)] > MOST_P99 for times in rows.values()))


async def ask(folder: Path, path: str, seconds: float) -> list[float]:
    """The sorted times of reviews that are due at fixed times."""
    port = await _port(folder)
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    times: list[float] = []
    connector = aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS)
    async with aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=connector) as session:
        begin = time.perf_counter() + 0.5

        async def one(number: int) -> None:
            due = begin + number / RATE
            await asyncio.sleep(due - time.perf_counter())
            async with session.post(path, data=review(number)) as answer:
                response = orjson.loads(await answer.read())["response"]
            assert response["allowed"], response
            times.append(time.perf_counter() - due)

        await asyncio.gather(*(one(number) for number in range(int(RATE * seconds))))
    return sorted(times)


def review(number: int) -> bytes:
    """A question about a new job with a runtime patch."""
    job = floor.train_job()
    metadata = {**job["metadata"], "name": f"new-{number}", "namespace": "default", "uid": f"u-{number}"}
    job = {**job, "metadata": metadata}
    request = {"uid": str(number), "operation": "CREATE", "namespace": "default", "object": job}
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})


async def _port(folder: Path) -> int:
    told = folder / "port"
    while not told.exists():
        await asyncio.sleep(0.1)
    return int(told.read_text())


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def serve_alone(folder: Path) -> None:
    """An operator that knows many jobs, and whose API server is in its memory."""
    api = FakeApi(TRAIN_JOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES, JOBSETS, garbage_after=None)
    api.create(SECRETS, {"metadata": {"name": "kubeflow-trainer-webhook-cert", "namespace": "system"}})
    api.create(CLUSTER_TRAINING_RUNTIMES, floor.runtime())
    for number in range(KNOWN_JOBS):
        job = floor.train_job()
        metadata = {**job["metadata"], "name": f"old-{number}", "namespace": "default"}
        api.create(
            TRAIN_JOBS, {**job, "metadata": metadata, "spec": {**job["spec"], "managedBy": MULTIKUEUE}}
        )
    port = 20_000 + os.getpid() % 20_000
    settings = ServiceSettings(
        host="127.0.0.1", health_port=0, metrics_port=0, webhook_port=port, leader_election=False
    )
    parts = Parts(api.transport(), settings, "system")
    serving = asyncio.create_task(serve(parts, asyncio.Event()))
    while not await _listens(port):
        await asyncio.sleep(0.2)
        if serving.done():
            serving.result()
    print(f"ready at {datetime.now(UTC):%H:%M:%S}", file=sys.stderr)
    (folder / "port.new").write_text(str(port))
    (folder / "port.new").rename(folder / "port")
    await serving


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        uvloop.run(serve_alone(Path(sys.argv[2])))
    else:
        sys.exit(main(*map(float, sys.argv[1:])))
