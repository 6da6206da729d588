"""A job as its runner runs it: order, restarts, and what happens when the runner itself is killed."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed
from kfp_trainer.runtime_operator.local.folder import JobFolder
from kfp_trainer.runtime_operator.local.process.launcher.record import identity
from tests.counts import count

# Every pod notes each of its starts and ends; its first run fails once, so that it is restarted in place.
LEDGER = """
note() { echo "$1 $JOB_COMPLETION_INDEX" >> "$LEDGER"; }
note start
sleep 0.3
if mkdir "$LEDGER.$JOB_COMPLETION_INDEX" 2>/dev/null; then note fail; exit 1; fi
sleep 0.6
note end
"""


def kill_runner(folder: JobFolder) -> bool:
    """Kill the runner of a job without warning, if there is one."""
    document = folder.read("runner")
    if document is None or not folder.is_run() or identity(document["pid"]) != tuple(document["identity"]):
        return False
    os.kill(document["pid"], signal.SIGKILL)
    return True


def kill_at_random(folder: JobFolder, dice: random.Random, waiting: Future[Any]) -> int:
    """Kill every runner a job gets, each after a random time, until the job has ended; count them."""
    killed = 0
    while not waiting.done():
        time.sleep(dice.uniform(0.0, 1.2) if folder.is_run() else 0.005)
        killed += kill_runner(folder)
    return killed


def test_a_killed_runner_loses_nothing(workshop, tmp_path: Path) -> None:
    kills, wanted, dice, number = 0, count(50, sampled=10), random.Random(20), 0
    with ThreadPoolExecutor(1) as somebody:
        while kills < wanted:
            number += 1
            ledger = tmp_path / f"ledger-{number}"
            env = [{"name": "LEDGER", "value": str(ledger)}]
            job = workshop.train_job(f"job-{number}", LEDGER, nodes=2, trainer={"env": env})
            name = workshop.jobs.create([workshop.runtime(), job])
            waiting = somebody.submit(workshop.jobs.wait, name, timeout=90)
            kills += kill_at_random(JobFolder(tmp_path / "jobs" / "default" / name), dice, waiting)
            assert waiting.result().phase == "Complete"
            expected = [f"{what} {index}" for index in (0, 1) for what in ("end", "fail", "start", "start")]
            assert sorted(ledger.read_text().split("\n")[:-1]) == sorted(expected)
    assert workshop.left_behind() == []


def test_two_runners_on_one_job_are_refused(workshop, tmp_path: Path) -> None:
    from kfp_trainer.runtime_operator.local.running import main

    name = workshop.jobs.create([workshop.runtime(), workshop.train_job("one", "sleep 2")])
    folder = JobFolder(tmp_path / "jobs" / "default" / name)
    while not folder.is_run():
        time.sleep(0.01)
    before = folder.read("runner")
    main(str(folder.path))  # would run the job to its end
    assert folder.is_run()
    assert before is None or folder.read("runner") == before


def test_a_job_that_fails_says_what_died(workshop) -> None:
    runtime = workshop.runtime()
    job = workshop.train_job("dies", "echo working; echo no such data >&2; exit 7", nodes=1)
    runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] = 0
    with pytest.raises(JobFailed, match="container node: exit code 7") as failed:
        workshop.run(runtime, job)
    assert "no such data" in str(failed.value)
    assert workshop.jobs.exit_code("dies") == 7


def test_two_jobs_use_the_same_ports_and_paths_at_once(workshop, tmp_path: Path) -> None:
    script = (
        "echo $HOSTNAME > /data/mine; python -m http.server $PET_MASTER_PORT -d /data >/dev/null 2>&1 & "
        "for _ in $(seq 100); do sleep 0.1; "
        "python -c 'import os, urllib.request as u; print(u.urlopen("
        '"http://%s:%s/mine" % (os.environ["PET_MASTER_ADDR"], os.environ["PET_MASTER_PORT"])'
        ").read().decode().strip())' 2>/dev/null && break; done; sleep 1; kill %1"
    )
    runtime = workshop.runtime()
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "data", "emptyDir": {}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    names = [workshop.jobs.create([runtime, workshop.train_job(name, script)]) for name in ("one", "two")]
    said = {name: [] for name in names}
    for name in names:
        workshop.jobs.wait(name, on_line=said[name].append, timeout=60)
    assert said == {"one": ["one-node-0-0"], "two": ["two-node-0-0"]}


def test_many_jobs_on_few_cores_all_end(workshop) -> None:
    number = count(50, sampled=8)
    names = [
        workshop.jobs.create([workshop.runtime(), workshop.train_job(f"many-{each}", "sleep 0.5", nodes=4)])
        for each in range(number)
    ]
    phases = [workshop.jobs.wait(name, timeout=300).phase for name in names]
    assert phases == ["Complete"] * number
