"""The operator beside Trainer's manager and beside a bare client, on a real API server.

    python -m tests.perf.bench_operator [ROW …]

Each figure comes from a fresh plane on which nothing runs but etcd, the API server and the one that is
measured, and includes the start of its process. The peers run in the same run, so that ratios hold where the
rates of this machine do not.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import psutil

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.render.render import render
from tests.cluster.control_plane.plane import Plane
from tests.cluster.older_kinds import install_older_crds

from .operator import load
from .operator.managers import MANAGERS, Start, bare_client, plane_alone, serving_all

BACKLOG = 1000
BURST = 300
LARGE = 5000
FOREIGN, FOREIGN_BYTES = 700, 200_000
MOST_MB, MOST_SECONDS = 150, 60.0
NEW_JOB_SECONDS = 5.0
RATES = {5: 0.1, 20: 1.0}
"""jobs a second, and the most seconds until the JobSet of all but one in a hundred exists"""
LEAST = {"peer": 3.0, "peer, best settings": 1.5, "bare client": 0.8}
"""how many times faster than each the operator must work off a backlog"""
LEAST_BURST = 1.5
LEAST_OLDER = 0.8
"""how fast jobs of the older kinds must be, where TrainJobs are 1"""
SIMPLE, TWO_ROLES = "TrainJobs", "TrainJobs of launcher and nodes"
MIXED, MIXED_TWO_ROLES = "older kinds, mixed", "five kinds of two roles"
TURNS = 2
QUIET_SECONDS = 4.0
MEASURED = ("operator", "kube-apiserver", "etcd")


def main(rows: list[str] | None = None) -> int:
    """Print the tables; 1 if a figure is beyond its limit."""
    chosen = [row for name, row in ROWS.items() if not rows or name in rows]
    held = [asyncio.run(row()) for row in chosen]
    return int(not all(held))


async def backlog() -> bool:
    """Seconds until all JobSets exist of jobs that were there before the manager."""
    taken = {name: await _work_off(start) for name, start in MANAGERS.items()}
    with tempfile.NamedTemporaryFile(suffix=".objects") as file:
        taken["bare client"] = await _work_off(bare_client(Path(file.name)), objects=Path(file.name))
    print(f"| {BACKLOG:,} waiting jobs of {load.NODES} nodes | s | jobs/s | ours is faster | at least |")
    print("|---|---|---|---|---|")
    held = True
    for name, seconds in taken.items():
        ratio, least = seconds / taken["ours"], LEAST.get(name, 0)
        held &= ratio >= least
        limit = f"{least:.1f} ×" if least else ""
        print(f"| {name} | {seconds:.1f} | {BACKLOG / seconds:.0f} | {ratio:.2f} × | {limit} |")
    return held


async def _work_off(start: Start, objects: Path | None = None) -> float:
    with plane_alone() as plane:
        async with load.session(plane) as opened:
            plane.client.apply(load.runtime())
            await load.create_jobs(opened, BACKLOG)
            if objects is not None:
                objects.write_bytes(await _bodies(opened))
            began = time.perf_counter()
            start(plane)
            await load.until_there_are(opened, load.JOB_SETS, BACKLOG)
            return time.perf_counter() - began


async def _bodies(opened: load.aiohttp.ClientSession) -> bytes:
    """The objects that the operator applies, each with its path."""
    lines = []
    runtime = api.read(load.runtime())
    assert not isinstance(runtime, api.TrainJob)
    async with opened.get(load.TRAIN_JOBS) as answer:
        stored = load.orjson.loads(await answer.read())["items"]
    for document in stored:
        job = api.read({"apiVersion": load.TRAINER, "kind": "TrainJob", **document})
        assert isinstance(job, api.TrainJob)
        for each in render(job, runtime).objects:
            base = load.JOB_SETS if each["kind"] == "JobSet" else load.CONFIG_MAPS
            path = f"{base}/{each['metadata']['name']}?fieldManager=trainer&force=true"
            lines.append(path.encode() + b"\t" + load.orjson.dumps(each))
    return b"\n".join(lines)


async def live() -> bool:
    """From creating a job to its JobSet, while the manager runs."""
    print("| create → JobSet | jobs/s | p50 ms | p99 ms | at most |\n|---|---|---|---|---|")
    held, rates = True, {}
    for name, start in MANAGERS.items():
        for rate in (0, *RATES):
            number = BURST if not rate else rate * 20
            seconds, all_of_them = await _live(start, number, rate=rate)
            p50, p99 = (seconds[int(len(seconds) * part)] for part in (0.5, 0.99))
            limit = RATES.get(rate, 0.0) if name == "ours" else 0.0
            held &= not limit or p99 <= limit
            told = f"{rate}" if rate else f"{number} at once: {number / all_of_them:.0f}"
            rates[name, rate] = number / all_of_them
            at_most = f"{limit * 1000:.0f}" if limit else ""
            print(f"| {name} | {told} | {p50 * 1000:.0f} | {p99 * 1000:.0f} | {at_most} |", flush=True)
    ratio = rates["ours", 0] / rates["peer", 0]
    print(f"\nA burst goes {ratio:.2f} times as fast as the peer's; at least {LEAST_BURST}.")
    return held and ratio >= LEAST_BURST


async def _live(start: Start, number: int, *, rate: float) -> tuple[list[float], float]:
    with plane_alone() as plane:
        async with load.session(plane) as opened:
            plane.client.apply(load.runtime())
            start(plane)
            await load.create(opened, load.TRAIN_JOBS, [load.orjson.dumps(load.train_job(load.FIRST))])
            await load.until_there_are(opened, load.JOB_SETS, 1)
            began = time.perf_counter()
            seconds = await load.paced(opened, number, rate=rate)
            return seconds, time.perf_counter() - began


async def older() -> bool:
    """Waiting jobs of the older kinds beside waiting TrainJobs, in CPU time, which other work slows less.

    Jobs of all kinds, of one role and of two, are held against TrainJobs of one role, which are the cheapest;
    those of two roles also against TrainJobs that have a launcher beside their nodes.
    """
    launching = [load.train_job(f"b{n}", of=load.LAUNCHING, nodes=load.NODES - 1) for n in range(BURST)]
    jobs = {
        SIMPLE: {load.TRAIN_JOBS: [load.train_job(f"b{n}") for n in range(BURST)]},
        TWO_ROLES: {load.TRAIN_JOBS: launching},
        MIXED: load.older_jobs(BURST, load.OLDER, load.OLDER_OF_TWO_ROLES),
        "four kinds of one role": load.older_jobs(BURST, load.OLDER),
        MIXED_TWO_ROLES: load.older_jobs(BURST, load.OLDER_OF_TWO_ROLES),
    }
    told: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(TURNS):
        for name, of in jobs.items():
            told[name].append(await _wait(of))
    spent = {name: [min(each) * 1000 for each in zip(*of, strict=True)] for name, of in told.items()}
    print(
        f"| {BURST} waiting jobs of {load.NODES} pods, best of {TURNS} | CPU ms to its JobSet | all of it |"
    )
    print("|---|---|---|")
    for name, (jobset, all_of_it) in spent.items():
        print(f"| {name} | {jobset:.1f} | {all_of_it:.1f} |")
    held = True
    for ours, theirs in ((MIXED, SIMPLE), (MIXED_TWO_ROLES, TWO_ROLES)):
        ratio = spent[theirs][0] / spent[ours][0]
        held &= ratio >= LEAST_OLDER
        print(f"\n{ours}: {ratio:.2f} times as fast as {theirs}; at least {LEAST_OLDER}.")
    return held


async def _wait(jobs: Mapping[str, list[dict[str, Any]]]) -> tuple[float, float]:
    """CPU seconds a job of the operator and what it writes to: to its JobSet, and to the end.

    The first JobSets show that the operator has started; what it did before is not counted, nor are they.
    """
    with plane_alone() as plane:
        install_older_crds(plane.client)
        async with load.session(plane) as opened:
            plane.client.apply(load.runtime())
            plane.client.apply(load.launching_runtime())
            for path, documents in jobs.items():
                await load.create(opened, path, map(load.orjson.dumps, documents))
            serving_all(plane)
            await load.until_there_are(opened, load.JOB_SETS, 1)
            before, made = _cpu_seconds(plane), await load.count(opened, load.JOB_SETS)
            await load.until_there_are(opened, load.JOB_SETS, BURST)
            between = _cpu_seconds(plane)
            await _until_quiet(plane)
            jobset = (between - before) / (BURST - made)
            return jobset, jobset + (_cpu_seconds(plane) - between) / BURST


def _cpu_seconds(plane: Plane) -> float:
    """What the operator and what it writes to have used so far."""
    times = [psutil.Process(plane.site.processes[name].pid).cpu_times() for name in MEASURED]
    return sum(each.user + each.system for each in times)


async def _until_quiet(plane: Plane) -> None:
    """Wait until the operator writes no more."""
    last, known = time.perf_counter(), 0
    while time.perf_counter() < last + QUIET_SECONDS:
        await asyncio.sleep(0.5)
        written = sum(load.writes(plane).values())
        if written != known:
            last, known = time.perf_counter(), written


async def large() -> bool:
    """Memory with many jobs and other people's ConfigMaps, and a restart among them."""
    with plane_alone() as plane:
        async with load.session(plane) as opened:
            plane.client.apply(load.runtime())
            foreign = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "x" * FOREIGN_BYTES}}
            names = ({**foreign, "metadata": {"name": f"foreign-{n}"}} for n in range(FOREIGN))
            await load.create(opened, load.CONFIG_MAPS, map(load.orjson.dumps, names))
            await load.create_jobs(opened, LARGE)
            process = MANAGERS["ours"](plane)
            await load.until_there_are(opened, load.JOB_SETS, LARGE)
            first = process.resident_mb()
            process.stop()
            before, began = load.writes(plane), time.perf_counter()
            process.start()
            await load.create(opened, load.TRAIN_JOBS, [load.orjson.dumps(load.train_job("after"))])
            await load.until_there_are(opened, load.JOB_SETS, LARGE + 1)
            seconds = time.perf_counter() - began
            await asyncio.sleep(NEW_JOB_SECONDS)
            needless = sum((load.writes(plane) - before).values()) - len(("ConfigMap", "JobSet"))
            after = process.resident_mb()
    print(f"| {LARGE:,} jobs, {FOREIGN} ConfigMaps of others, 200 KB each | measured | at most |")
    print("|---|---|---|")
    print(f"| memory after all were made, MiB | {first} | {MOST_MB} |")
    print(f"| memory after a restart, MiB | {after} | {MOST_MB} |")
    print(f"| a new job's JobSet after the restart, s | {seconds:.1f} | {MOST_SECONDS:.0f} |")
    print(f"| writes to the old jobs after the restart | {needless} | 0 |")
    return max(first, after) <= MOST_MB and seconds <= MOST_SECONDS and needless <= 0


ROWS: dict[str, Callable[[], Coroutine[Any, Any, bool]]] = {
    "backlog": backlog,
    "live": live,
    "large": large,
    "older": older,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
