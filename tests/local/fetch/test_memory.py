"""However large a file is, fetching it takes the same memory: 20 GB in `make soak`, less here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.counts import count
from tests.servers.web import Answer, Asked, WebServer, ranged

GIGA = 1_000_000_000
SIZE = count(20 * GIGA, sampled=GIGA // 5)
MOST = count(300_000_000, sampled=100_000_000)
PROGRAM = """
import sys
from pathlib import Path
from kfp_trainer.runtime_operator.workloads.command import main
from kfp_trainer.runtime_operator.workloads.fetch.command import fetch_command
code = main(fetch_command(), sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024)
sys.exit(code)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the peak of memory from")
def test_a_large_file_needs_little_memory(tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < SIZE * 1.1:
        pytest.skip(f"less than {SIZE / GIGA:.0f} GB free")
    body = tmp_path / "body"
    with body.open("wb") as file:
        file.truncate(SIZE)
        for at in range(0, SIZE, SIZE // 50):
            file.seek(at)
            file.write(os.urandom(4096))

    def answer(asked: Asked) -> Answer:
        return ranged(asked, body, {"ETag": '"1"'})

    with WebServer(answer) as web:
        command = [sys.executable, "-c", PROGRAM, "dataset", f"{web.url}/large.bin", str(tmp_path / "d")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    *_, end, peak = done.stdout.splitlines()
    assert json.loads(end)["bytes"] == SIZE
    print(f"{SIZE / GIGA:.1f} GB took {int(peak) / 1e6:.0f} MB and {json.loads(end)['seconds']:.0f} s")
    assert int(peak) < MOST
    shutil.rmtree(tmp_path / "d")
    body.unlink()
