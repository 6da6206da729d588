"""What our client costs: an event, a cached object, and a job of two writes, beside a bare client.

    python -m tests.perf.bench_kube

The server answers from prepared bytes in a process of its own. A job is a TrainJob of 4 KB, for which a
JobSet is built and applied and then a status; the bare client sends the same requests without reading,
building or remembering anything. The ratio holds where the rates do not.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import uvloop

from kfp_trainer.runtime_operator.kube.cache import Cached, Key
from kfp_trainer.runtime_operator.kube.cluster import Cluster
from kfp_trainer.runtime_operator.kube.http_transport import HttpTransport
from kfp_trainer.runtime_operator.kube.identity import Fixed
from kfp_trainer.runtime_operator.kube.informer import Informer
from kfp_trainer.runtime_operator.kube.queue import WorkQueue
from kfp_trainer.runtime_operator.kube.resource import Resource

from . import floor

JOBS = Resource("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob")
JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
STATUS = {"apiVersion": JOBS.api_version, "kind": JOBS.kind, "metadata": {"name": ""}, "status": {}}

OBJECTS, EVENTS, BURST, WORKERS, ROUNDS = 10_000, 10_000, 2_000, 64, 3
MOST_EVENT_US, MOST_KB, LEAST_OF_BARE = 60.0, 6.0, 0.05


def main() -> int:
    """Print the table; 1 if a figure is beyond its limit."""
    kilobytes, listed_us, event_us = in_own_process("cache")
    rows = [in_own_process(kind) for kind in ("jobs", "bare") * ROUNDS]
    ours, bare = max(rows[0::2]), max(rows[1::2])
    print("| what | measured | limit |\n|---|---|---|")
    print(f"| memory of a cached object of {floor.SIZE} bytes | {kilobytes:.1f} KB | {MOST_KB:.0f} KB |")
    print(f"| an object in a list of {OBJECTS} | {listed_us:.0f} µs CPU | |")
    print(f"| an event that makes no work | {event_us:.0f} µs CPU | {MOST_EVENT_US:.0f} µs |")
    print(f"| jobs, {BURST} at once, {WORKERS} workers | {ours[0]:.0f}/s, {ours[1]:.0f} µs CPU a job | |")
    print(f"| the same requests, bare | {bare[0]:.0f}/s, {bare[1]:.0f} µs CPU a job | |")
    print(f"| ours to bare, best of {ROUNDS} | {ours[0] / bare[0]:.2f} | {LEAST_OF_BARE} |")
    too_much = kilobytes > MOST_KB or event_us > MOST_EVENT_US
    return int(too_much or ours[0] < LEAST_OF_BARE * bare[0])


def in_own_process(kind: str) -> tuple[float, ...]:
    """Run one measurement in a fresh process, whose memory and time are its own."""
    command = [sys.executable, "-m", "tests.perf.bench_kube", kind]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(map(float, told.split()))


@asynccontextmanager
async def connected(objects: int) -> AsyncIterator[HttpTransport]:
    """A transport to a server of its own."""
    command = [sys.executable, "-m", "tests.perf.canned_api", str(objects)]
    server = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert server.stdout
    try:
        port = int(await server.stdout.readline())
        async with HttpTransport(
            Cluster(f"http://127.0.0.1:{port}", ssl.create_default_context(), Fixed())
        ) as transport:
            yield transport
    finally:
        server.kill()
        await server.wait()


def cpu() -> float:
    """Seconds of CPU that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def tune_gc() -> None:
    """Leave what is there out of the garbage collector's sight, as the operator does."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def resident_kb() -> float:
    """Memory of this process now."""
    tune_gc()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what comes over a socket."""
    while not condition():
        await asyncio.sleep(0.005)


async def watched(transport: HttpTransport, count: int) -> None:
    """Wait until the server has so many watches: it tells nobody what was before."""
    while int(await transport.request("GET", "/watches")) != count:
        await asyncio.sleep(0.05)


async def cache() -> tuple[float, ...]:
    """Memory of an object, CPU of an object in a list, CPU of an event.

    The memory is what a second informer of the same objects takes: the first one has paid for what a list
    needs once.
    """
    async with connected(OBJECTS) as transport:
        first, second = (Informer(transport, JOBS, lambda *_: None) for _ in range(2))
        task = asyncio.create_task(first.run())
        await first.synced.wait()
        memory, begin = resident_kb(), cpu()
        other = asyncio.create_task(second.run())
        await second.synced.wait()
        listed = cpu() - begin
        kilobytes = (resident_kb() - memory) / OBJECTS
        other.cancel()
        await watched(transport, 1)
        begin = cpu()
        await transport.request("GET", "/touch", parameters={"n": str(EVENTS)})
        await until(lambda: first.events >= EVENTS)
        event = (cpu() - begin) / EVENTS
        task.cancel()
    return kilobytes, listed / OBJECTS * 1e6, event * 1e6


class Loop:
    """The least of an operator: builds a JobSet for each job, applies it, and then a status."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport, self._runtime = transport, floor.runtime()
        self.queue = WorkQueue[Key]()
        self.jobs = Informer(transport, JOBS, self._changed)
        self.jobsets = Informer(transport, JOBSETS, self._changed)
        self.done = 0

    def _changed(self, key: Key, _: Cached | None, __: Cached | None) -> None:
        self.queue.add(key)

    async def work(self) -> None:
        """Work on one key after the other."""
        while True:
            key = await self.queue.get()
            job = self.jobs.get(key)
            if job and not self.jobsets.get(key):
                await self._make(key, job)
            self.queue.forget(key)
            self.queue.done(key)

    async def _make(self, key: Key, job: Cached) -> None:
        body = orjson.dumps(floor.build(job.document(), self._runtime))
        self.jobsets.wrote(await self._transport.apply(JOBSETS, *key, body, manager="trainer"))
        status = orjson.dumps({**STATUS, "metadata": {"name": key[1]}})
        self.jobs.wrote(await self._transport.apply(JOBS, *key, status, manager="trainer", sub="status"))
        self.done += 1


async def jobs() -> tuple[float, ...]:
    """Jobs a second and CPU a job, of a burst."""
    async with connected(0) as transport:
        loop = Loop(transport)
        tasks = [asyncio.create_task(each.run()) for each in (loop.jobs, loop.jobsets)]
        await asyncio.gather(loop.jobs.synced.wait(), loop.jobsets.synced.wait())
        tasks += [asyncio.create_task(loop.work()) for _ in range(WORKERS)]
        await watched(transport, 2)
        begin, used = time.perf_counter(), cpu()
        await transport.request("GET", "/create", parameters={"n": str(BURST)})
        await until(lambda: loop.done >= BURST)
        took, used = time.perf_counter() - begin, cpu() - used
        for task in tasks:
            task.cancel()
    return BURST / took, used / BURST * 1e6


async def bare() -> tuple[float, ...]:
    """The same requests from prepared bytes, over as many connections."""
    async with connected(0) as transport:
        port = int(transport.cluster.server.rpartition(":")[2])
        body = orjson.dumps(floor.build(floor.train_job(), floor.runtime()))
        status = orjson.dumps(STATUS)
        names = iter([f"tune-{number:05}" for number in range(BURST)])

        async def send() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for name in names:
                for path, sent in (
                    (JOBSETS.path("lab", name), body),
                    (JOBS.path("lab", name, sub="status"), status),
                ):
                    head = f"PATCH {path} HTTP/1.1\r\nContent-Length: {len(sent)}\r\n\r\n"
                    writer.write(head.encode() + sent)
                    answered = await reader.readuntil(b"\r\n\r\n")
                    await reader.readexactly(int(answered.rpartition(b":")[2]))
            writer.close()

        begin, used = time.perf_counter(), cpu()
        await asyncio.gather(*(send() for _ in range(WORKERS)))
        return BURST / (time.perf_counter() - begin), (cpu() - used) / BURST * 1e6


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(main())
    print(*uvloop.run({"cache": cache, "jobs": jobs, "bare": bare}[sys.argv[1]]()))
