"""What the control plane of the tests costs: its start, its memory, simulated pods a second, its stop.

    python -m tests.perf.bench_control_plane [PODS]

Its programs are built before the clock starts. The pods are those of one JobSet on simulated nodes; they run
for a second each, and the time is from the JobSet's creation to its end.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.cluster.control_plane import core
from tests.cluster.control_plane.build import build, why_not
from tests.cluster.control_plane.client import Client, eventually
from tests.cluster.control_plane.nodes import add_nodes
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.plane import running_plane
from tests.cluster.manifests import JOBSET, jobset, pod_template, read

USUAL = ("scheduler", "kwok", "jobset")
STARTS = 3
PODS = 1000
PODS_A_NODE = 200
SETTLE_SECONDS = 10.0
MOST_API, MOST_ALL = 5.0, 10.0


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a plane."""

    api: float
    """seconds until the API server was ready"""
    all: float
    """seconds until every part was"""
    memory: dict[str, int]
    """in MB, some seconds later"""
    stop: float
    """seconds until nothing was left"""


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table; 1 if a limit is passed."""
    if reason := why_not():
        print(f"not measured here: {reason}")
        return 0
    able = [name for name in PARTS if not PARTS[name].why_not()]
    build([*core.PROGRAMS, *(each for name in able for each in PARTS[name].programs)], print)
    starts = [start(able) for _ in range(STARTS)]
    usual = start(list(USUAL))
    pods = int(arguments[0]) if arguments else PODS
    seconds = simulated_pods(pods)
    api = statistics.median(each.api for each in starts)
    whole = statistics.median(each.all for each in starts)
    print("| what | measured | limit |\n|---|---|---|")
    print(f"| API server ready | {api:.1f} s | {MOST_API:.0f} s |")
    print(f"| with {', '.join(USUAL)} | {usual.all:.1f} s | |")
    print(f"| with everything, {len(able)} parts | {whole:.1f} s | {MOST_ALL:.0f} s |")
    print(f"| memory when idle, {', '.join(USUAL)} | {memory(usual)} | |")
    print(f"| memory when idle, everything | {memory(starts[-1])} | |")
    print(f"| a JobSet of {pods:,} simulated pods | {seconds:.0f} s, {pods / seconds:.0f} pods/s | |")
    print(f"| stop of everything | {statistics.median(each.stop for each in starts):.1f} s | |")
    return int(api > MOST_API or whole > MOST_ALL)


def memory(measured: Start) -> str:
    """All of it, and the API server's share."""
    return f"{sum(measured.memory.values())} MB, of it {measured.memory['kube-apiserver']} the API server"


def start(parts: list[str]) -> Start:
    """Start a plane with these parts, look at it, stop it."""
    began = time.monotonic()
    with running_plane(parts, print) as plane:
        plane.need(*parts)
        whole, api = time.monotonic() - began, plane.seconds["kube-apiserver"]
        time.sleep(SETTLE_SECONDS)
        used = plane.resident_mb()
        ended = time.monotonic()
    return Start(api, whole, used, time.monotonic() - ended)


def simulated_pods(count: int) -> float:
    """Seconds in which a JobSet of so many pods comes and goes."""
    with running_plane(USUAL, print) as plane:
        plane.need(*USUAL)
        add_nodes(plane.client, -(-count // PODS_A_NODE), pool="bench")
        began = time.monotonic()
        plane.client.create(jobset("many", pod_template("bench"), pods=count), "default")
        eventually("all have ended", lambda: _is_over(plane.client), limit=600)
        return time.monotonic() - began


def _is_over(client: Client) -> bool:
    time.sleep(0.5)
    state = read(client, JOBSET, "JobSet", "default", "many").get("status", {}).get("terminalState")
    assert state in (None, "", "Completed"), state
    return bool(state)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
