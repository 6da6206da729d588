"""What a launcher of v1 asks of kubectl on one machine, and who answers."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.local.commands import Target, address_of, serve_commands
from kfp_trainer.runtime_operator.local.kubectl import PROGRAM, is_host, reaches_by_kubectl, with_kubectl
from kfp_trainer.runtime_operator.local.process.joining import Session
from tests.legacy_jobs import legacy_document

LABELS = {"training.kubeflow.org/replica-type": "worker", "jobset.sigs.k8s.io/job-index": "1"}

LAUNCHER = {**LABELS, "training.kubeflow.org/replica-type": "launcher"}


class Here:
    """A pod whose container is this machine; it runs only at the second look."""

    def __init__(self) -> None:
        self.containers: list[str] = []

    async def start_on(self, container, command, out, err) -> Session:
        self.containers.append(container)
        if len(self.containers) == 1:
            raise SetupError("it does not run yet")
        streams = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
        process = os.posix_spawnp(command[0], command, dict(os.environ), file_actions=streams)
        return Session(process, reads=-1, says=-1, warns=-1)


async def called(folder: Path, find, *words: str) -> tuple[int, str, str]:
    """What the stand-in says and returns while a runner answers."""
    served = serve_commands(folder, find)
    try:
        command = [sys.executable, "-IS", str(PROGRAM), address_of(folder), *words]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        said, told = await process.communicate()
        return process.returncode or 0, said.decode(), told.decode()
    finally:
        served.cancel()
        await asyncio.wait({served})


def test_a_command_runs_in_the_pod_of_the_host_with_the_callers_streams(tmp_path):
    pod = Here()
    words = ("exec", "job-worker-1", "--", "/bin/sh", "-c", "echo said; echo told >&2; exit 7")
    target = {"job-worker-1": Target(pod, "mpi")}
    assert asyncio.run(called(tmp_path, target.get, *words)) == (7, "said\n", "told\n")
    assert pod.containers == ["mpi", "mpi"]


def test_the_container_may_be_named(tmp_path):
    pod = Here()
    words = ("exec", "job-worker-1", "--container", "other", "--", "true")
    assert asyncio.run(called(tmp_path, lambda _: Target(pod, "mpi"), *words))[0] == 0
    assert set(pod.containers) == {"other"}


def test_a_host_is_waited_for(tmp_path):
    pod, looks = Here(), []

    def find(host):
        looks.append(host)
        return Target(pod, "mpi") if len(looks) > 2 else None

    assert asyncio.run(called(tmp_path, find, "exec", "job-worker-0", "--", "true"))[0] == 0
    assert len(looks) > 3


def test_a_client_that_goes_or_talks_nonsense_harms_no_other(tmp_path):
    async def scene() -> tuple[int, list[str]]:
        pod = Here()
        served = serve_commands(tmp_path, {"job-worker-1": Target(pod, "mpi")}.get)
        try:
            for said in (b"no json", b"{}", b'{"host": "job-worker-9", "command": ["true"]}'):
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as way:
                    way.connect(f"\0{address_of(tmp_path)}")
                    socket.send_fds(way, [said], [1, 2])
                    await asyncio.sleep(0)
            words = ("exec", "job-worker-1", "--", "true")
            command = [sys.executable, "-IS", str(PROGRAM), address_of(tmp_path), *words]
            process = await asyncio.create_subprocess_exec(*command)
            return await process.wait(), pod.containers
        finally:
            served.cancel()
            await asyncio.wait({served})

    assert asyncio.run(scene()) == (0, ["mpi", "mpi"])


USAGE = "kubectl: on one machine it knows only: exec HOST [--container NAME] -- COMMAND\n"


@pytest.mark.parametrize("words", [("get", "pods"), ("exec", "a"), ("exec", "a", "-it", "--", "sh")])
def test_anything_else_is_refused(words, tmp_path):
    assert asyncio.run(called(tmp_path, lambda _: None, *words)) == (1, "", USAGE)


def test_without_a_runner_it_says_so(tmp_path):
    command = [sys.executable, "-IS", str(PROGRAM), address_of(tmp_path), "exec", "a", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "kubectl: the job's runner does not answer: Connection refused\n",
    )


HOSTS = {
    "the worker of that number": ("job-worker-1", LABELS, True),
    "not of another": ("job-worker-2", LABELS, False),
    "a launcher that computes": ("job-launcher", LAUNCHER, True),
    "not a worker": ("job-launcher", LABELS, False),
    "a worker is no launcher": ("job-worker-1", LAUNCHER, False),
}


@pytest.mark.parametrize(("host", "labels", "expected"), HOSTS.values(), ids=HOSTS)
def test_a_host_is(host, labels, expected):
    assert is_host(labels, host) is expected


def launcher() -> dict:
    spec = {
        "initContainers": [{"name": "mine"}, {"name": "kubectl-delivery"}],
        "volumes": [{"name": "mpi-job-kubectl", "emptyDir": {}}, {"name": "a", "emptyDir": {}}],
    }
    return {"spec": spec}


def test_the_stand_in_takes_the_place_of_what_the_init_container_brings(tmp_path):
    spec = with_kubectl(launcher(), tmp_path / "kube", tmp_path, own_view=True)["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["mine"]
    assert spec["volumes"][0]["hostPath"] == {"path": str(tmp_path / "kube"), "type": "Directory"}
    script = (tmp_path / "kube" / "kubectl").read_text()
    assert script.startswith("#!/bin/sh\nexec ") and address_of(tmp_path) in script


def test_other_pods_stay_as_they_are_and_without_a_view_of_its_own_none_is_started(tmp_path):
    document = {"spec": {"containers": []}}
    assert with_kubectl(document, tmp_path, tmp_path, own_view=False) is document
    with pytest.raises(SetupError, match="needs namespaces of its own"):
        with_kubectl(launcher(), tmp_path, tmp_path, own_view=False)


def test_only_launchers_of_v1_reach_their_workers_so():
    found = [
        reaches_by_kubectl(legacy_document(kind, {}, version=version))
        for kind, version in (("MPIJob", "v1"), ("MPIJob", "v2beta1"), ("TFJob", "v1"))
    ]
    assert found == [True, False, False]
    assert not reaches_by_kubectl({"kind": "TrainJob"})
