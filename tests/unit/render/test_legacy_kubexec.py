"""How a launcher of v1 finds the pod of a worker: the script itself, with a kubectl that only knows names."""

import subprocess
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.render.legacy.kubexec import (
    KUBECTL,
    PATIENCE_SECONDS,
    PAUSE_SECONDS,
    kubexec,
)
from tests.legacy_jobs import legacy_job

STUB = """#!/bin/sh
echo "$@" >> {folder}/asked
case $1 in
get)
  touch {folder}/looked
  [ -e {folder}/late ] && rm {folder}/late || cat {folder}/pods
  ;;
auth) [ -e {folder}/granted ] || { touch {folder}/granted; exit 1; } ;;
exec) shift; echo "$@" ;;
esac
"""
PODS = "pod/job-worker-1-0-older\npod/job-worker-1-0-newer\n"


@pytest.fixture
def run(tmp_path: Path):
    """Runs the script of a job, with these pods and no pauses."""

    def of(host: str, *command: str, pods: str = PODS, granted: bool = True, **spec) -> tuple[int, str, str]:
        stub = tmp_path / "kubectl"
        stub.write_text(STUB.replace("{folder}", str(tmp_path)))
        stub.chmod(0o755)
        (tmp_path / "pods").write_text(pods)
        if granted:
            (tmp_path / "granted").touch()
        script = kubexec(legacy_job("MPIJob", {"Launcher": {}, "Worker": {"replicas": 2}}, **spec))
        script = script.replace(KUBECTL, str(stub)).replace(f"sleep {PAUSE_SECONDS}", ":")
        tries = PATIENCE_SECONDS // PAUSE_SECONDS
        script = script.replace(f"LEFT={tries}", "LEFT=3")
        done = subprocess.run(
            ["sh", "-c", script, "kubexec.sh", host, *command], capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    return of


FOUND = {
    "the newest pod of a host": ("job-worker-1", {}, "job-worker-1-0-newer -- /bin/sh -c orted -x 1\n"),
    "its main container": (
        "job-worker-1",
        {"mainContainer": "mpi"},
        "job-worker-1-0-newer --container mpi -- /bin/sh -c orted -x 1\n",
    ),
    "a pod by its own name": (
        "job-worker-1-0-newer",
        {},
        "job-worker-1-0-newer -- /bin/sh -c orted -x 1\n",
    ),
    "a host of somebody else's": ("other-worker-1", {}, "other-worker-1 -- /bin/sh -c orted -x 1\n"),
    "once the Role names it": (
        "job-worker-1",
        {"granted": False},
        "job-worker-1-0-newer -- /bin/sh -c orted -x 1\n",
    ),
}


@pytest.mark.parametrize(("host", "given", "expected"), FOUND.values(), ids=FOUND)
def test_the_script_reaches(host, given, expected, run):
    code, said, _ = run(host, "orted", "-x", "1", **given)
    assert (code, said) == (0, expected)


def test_it_waits_for_a_pod_that_comes_late(run, tmp_path):
    (tmp_path / "late").touch()
    assert run("job-worker-1", "orted")[:2] == (0, "job-worker-1-0-newer -- /bin/sh -c orted\n")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["get", "get", "auth", "exec"]
    assert "replica-index=1" in asked[0] and "training.kubeflow.org/job-name=job," in asked[0]


def test_it_gives_up_with_a_sentence(run):
    code, said, told = run("job-worker-1", "orted", pods="")
    assert (code, said) == (1, "")
    assert told.splitlines()[-1] == (
        "job-worker-1: no pod of this worker has come to run within 1800 s; see kubectl get pods"
    )
