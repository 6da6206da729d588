"""What goes wrong on a machine: one sentence, and a job that has failed with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed, SetupError, SpecError


def failure(workshop, runtime, job) -> str:
    """Run a job that fails, quickly; return what is said of it."""
    with pytest.raises(JobFailed) as failed:
        workshop.run(runtime, job, timeout=120)
    assert workshop.jobs.get(job["metadata"]["name"]).phase == "Failed"
    assert workshop.left_behind() == []
    return str(failed.value).splitlines()[0]


def container(runtime) -> dict:
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod["containers"][0]


def test_a_missing_program(workshop) -> None:
    job = workshop.train_job("absent", "true", trainer={"command": ["no-such-program"]})
    said = failure(workshop, workshop.runtime(), job)
    assert 'exec: "no-such-program": executable file not found in $PATH' in said


def test_a_bad_working_directory(workshop) -> None:
    runtime = workshop.runtime()
    container(runtime)["workingDir"] = "/no/such/folder"
    said = failure(workshop, runtime, workshop.train_job("lost", "true"))
    assert 'workingDir "/no/such/folder"' in said


def test_a_folder_that_is_not_there(workshop) -> None:
    runtime = workshop.runtime()
    spec = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "data", "hostPath": {"path": "/no/such/data", "type": "Directory"}}]
    container(runtime)["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    said = failure(workshop, runtime, workshop.train_job("empty", "true"))
    assert '"/no/such/data"' in said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a disk of a few megabytes")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_fills_while_the_job_runs(workshop, small_disk: Path) -> None:
    from kfp_trainer.runtime_operator.jobs import LocalJobs

    workshop.jobs = LocalJobs(small_disk / "jobs")
    fill = f"cat /dev/zero > {small_disk}/filler"  # ends when all is full: an end to write down
    job = workshop.train_job("full", fill)
    said = failure(workshop, workshop.runtime(), job)
    assert "the disk is full" in said


def test_a_disk_that_is_full_before_the_job(workshop, small_disk: Path) -> None:
    from kfp_trainer.runtime_operator.jobs import LocalJobs

    (small_disk / "filler").write_bytes(bytes(2_990_000))
    workshop.jobs = LocalJobs(small_disk / "jobs")
    with pytest.raises(SetupError, match="the disk is full"):
        workshop.jobs.create([workshop.runtime(), workshop.train_job("full", "true")])
    assert list(workshop.jobs.list()) == []


def test_what_local_does_not_do_is_refused_by_name_before_anything_starts(workshop) -> None:
    runtime = workshop.runtime()
    pod = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "share", "nfs": {"server": "files", "path": "/"}}]
    with pytest.raises(
        SpecError, match=r"spec.replicatedJobs\[0\].template.spec.template.spec.volumes\[0\].nfs"
    ):
        workshop.jobs.create([runtime, workshop.train_job("share", "true")])
    assert list(workshop.jobs.list()) == []


def test_a_secret_that_nobody_has_given_is_named_before_anything_starts(workshop) -> None:
    source = {"secretKeyRef": {"name": "login", "key": "token"}}
    job = workshop.train_job("secret", "true", trainer={"env": [{"name": "TOKEN", "valueFrom": source}]})
    with pytest.raises(SpecError, match='Secret "login" is not found; add it to the file of the job'):
        workshop.jobs.create([workshop.runtime(), job])
