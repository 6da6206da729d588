"""The same job in each way this machine can give its pods a view of their own."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.jobs.shipped import shipped_runtimes
from kfp_trainer.runtime_operator.local.process.isolation import Isolation, works
from kfp_trainer.runtime_operator.local.record import make_job, read_record
from kfp_trainer.runtime_operator.local.runner import Runner
from kfp_trainer.runtime_operator.local.submission import submit

# Node 1 asks node 0 for a file, by its host name, its port and a mount path that the machine does not have.
ASK = """
FETCH='import sys, urllib.request as web; print(web.urlopen(sys.argv[1]).read().decode(), end="")'
if [ $JOB_COMPLETION_INDEX = 0 ]; then
  echo found > /shared/file
  python -m http.server $PET_MASTER_PORT --bind $PET_MASTER_ADDR --directory /shared > /dev/null 2>&1 &
  while [ ! -e /shared/asked ]; do sleep 0.05; done
  kill %1
else
  for _ in $(seq 200); do
    python -c "$FETCH" http://$PET_MASTER_ADDR:$PET_MASTER_PORT/file > /shared/asked.new 2> /dev/null && break
    sleep 0.05
  done
  mv /shared/asked.new /shared/asked
fi
"""


@pytest.mark.parametrize("way", [each for each in Isolation if works(each)], ids=lambda way: way.value)
async def test_nodes_find_each_other_and_their_paths(
    way: Isolation, workshop, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("kfp_trainer.runtime_operator.local.process.runner.detect", lambda: way)
    runtime = workshop.runtime()
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "shared", "mountPath": "/shared"}]
    submission = submit([runtime, workshop.train_job("ask", ASK, nodes=2)], shipped=shipped_runtimes())
    folder = make_job(tmp_path / "jobs", submission, owner="", attempt=0, now=time.time())
    async with asyncio.timeout(60):
        await Runner(folder, read_record(folder), jobs=tmp_path / "jobs").run()
    assert workshop.jobs.get("ask").phase == "Complete"
    assert (tmp_path / "jobs" / ".claims" / "default" / "shared" / "asked").read_text() == "found\n"
