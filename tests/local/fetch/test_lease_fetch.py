"""Eight pods on one volume: one of them fetches, the others find the work done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.servers.fetching import tree
from tests.servers.site import Site

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
FILES = {"model.safetensors": os.urandom(8_000_000), "config.json": b"{}"}


def test_eight_processes_fetch_once(tmp_path: Path) -> None:
    with Site(FILES) as site:
        command = [sys.executable, "-m", MODULE, "model", site.url, str(tmp_path / "d")]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(8)]
        ends = [json.loads(process.communicate(timeout=300)[0].splitlines()[-1]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert sorted(end["fetched"] for end in ends) == [0] * 7 + [sum(map(len, FILES.values()))]
    assert len({end["digest"] for end in ends}) == 1
    assert tree(tmp_path / "d") == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_pod_that_was_killed_does_not_hold_the_others_up(tmp_path: Path) -> None:
    with Site(FILES) as site:
        site.web.spoil(path="model", method="GET", cut_after=100, hang=True, times=100)
        command = [sys.executable, "-m", MODULE, "model", site.url, str(tmp_path / "d")]
        first = subprocess.Popen(command, stdout=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not site.web.asked_for("model", method="GET") and time.monotonic() < deadline:
            time.sleep(0.05)
        second = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert second.stdout is not None
        waiting = json.loads(second.stdout.readline())
        assert (waiting["event"], waiting["holder"]) == ("waiting", os.uname().nodename)
        site.web.faults.clear()
        first.kill()
        first.communicate()
        killed = time.monotonic()
        second.communicate(timeout=120)
        assert second.returncode == 0
        assert time.monotonic() - killed < 30, "a dead owner on the same machine is seen at once"
    assert tree(tmp_path / "d") == FILES
