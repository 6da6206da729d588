"""A fetch that is killed at any moment goes on where it was: the same tree, and hardly a byte twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.counts import count
from tests.servers.fetching import tree
from tests.servers.site import Meter, Site

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
FILES = {
    "model-1.safetensors": os.urandom(90_000_000),
    "model-2.safetensors": os.urandom(9_000_000),
    **{f"many/{number}.json": os.urandom(20_000) for number in range(40)},
}
TOTAL = sum(map(len, FILES.values()))
FEW = {path: body[:16_000_000] for path, body in FILES.items() if path != "model-2.safetensors"}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A site so large that a hundredth of it is more than what connections hold."""
    with Site(FILES) as site:
        yield site


@pytest.fixture(scope="module")
def small_site() -> Iterator[Site]:
    with Site(FEW) as site:
        yield site


def start(url: str, target: Path) -> subprocess.Popen[bytes]:
    """A fetch in a process of its own."""
    environ = {**os.environ, "STORAGE_URI": url}
    command = [sys.executable, "-m", MODULE, "dataset", url, str(target)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until(meter: Meter, bytes_passed: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until so much has passed."""
    deadline = time.monotonic() + 120
    while meter.count < bytes_passed and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.parametrize("seed", range(count(25, sampled=1)))
def test_after_kill_9_hardly_a_byte_comes_twice(site: Site, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    site.web.asked.clear()
    port = int(site.web.host.rpartition(":")[2])
    with Meter(port, rate=40_000_000) as meter:
        url = f"http://127.0.0.1:{meter.port}/"
        process = start(url, tmp_path / "d")
        wait_until(meter, dice.randrange(TOTAL), process)
        process.kill()
        process.communicate()
        assert not (tmp_path / "d").exists() or process.returncode == 0
        process = start(url, tmp_path / "d")
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        passed = meter.count
    assert tree(tmp_path / "d") == FILES
    assert json.loads(out.splitlines()[-1])["event"] == "end"
    headers = len(site.web.asked) * 400
    site.web.asked.clear()
    twice = (passed - headers) / TOTAL - 1
    print(f"{twice:.2%} came twice")
    assert twice <= 0.01, f"{twice:.2%} came twice"
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_killed_over_and_over_it_arrives(small_site: Site, tmp_path: Path) -> None:
    dice = random.Random(7)
    port = int(small_site.web.host.rpartition(":")[2])
    total = sum(map(len, FEW.values()))
    with Meter(port, rate=20_000_000) as meter:
        url = f"http://127.0.0.1:{meter.port}/"
        for _ in range(count(12, sampled=2)):
            process = start(url, tmp_path / "d")
            wait_until(meter, meter.count + dice.randrange(total // 4), process)
            process.kill()
            process.communicate()
        process = start(url, tmp_path / "d")
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert tree(tmp_path / "d") == FEW


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_ends_cleanly(small_site: Site, tmp_path: Path, sent: signal.Signals) -> None:
    port = int(small_site.web.host.rpartition(":")[2])
    with Meter(port, rate=10_000_000) as meter:
        url = f"http://127.0.0.1:{meter.port}/"
        process = start(url, tmp_path / "d")
        wait_until(meter, 5_000_000, process)
        process.send_signal(sent)
        began = time.monotonic()
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - began < 30
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}[sent], err
    assert err.decode().splitlines()[-1] == (
        "interrupted; what was fetched is kept, the next run goes on from there"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [".d.fetch"], "the lock is given back"
    assert b"Traceback" not in out + err
