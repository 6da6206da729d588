"""Jobs of kubeflow.org/v1 as processes: every role knows the others, and the role that leads decides."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.api.legacy import read_legacy
from kfp_trainer.runtime_operator.errors import JobFailed
from kfp_trainer.runtime_operator.jobs import Line, Whose
from kfp_trainer.runtime_operator.render.legacy.convert import convert
from tests.legacy_jobs import legacy_document
from tests.open_mpi import ALL_REDUCE, ALL_REDUCE_OF_MPICH

PRINT = "import os; print(os.environ['TF_CONFIG'])"
MEET = """
import os, socket
port, rank = int(os.environ["MASTER_PORT"]), int(os.environ["RANK"])
if rank == 0:
    server = socket.create_server((os.environ["MASTER_ADDR"], port))
    print(sorted(server.accept()[0].makefile().readline().strip() for _ in range(2)))
else:
    import time
    while True:
        try:
            other = socket.create_connection((os.environ["MASTER_ADDR"], port))
            break
        except OSError:
            time.sleep(0.05)
    other.sendall(f"{rank} of {os.environ['WORLD_SIZE']}\\n".encode())
"""


def running(container: str, *command: str) -> dict:
    return {
        "pod": {"containers": [{"name": container, "image": "lab.example/train:1", "command": [*command]}]}
    }


def document(kind: str, roles: dict, **spec) -> dict:
    made = legacy_document(kind, roles, **spec)
    return {**made, "metadata": {"name": "job"}}


def test_every_replica_of_a_tfjob_knows_its_place(workshop) -> None:
    role = running("tensorflow", "python3", "-c", PRINT)
    jobs = workshop.jobs
    name = jobs.create(document("TFJob", {"Chief": role, "Worker": {**role, "replicas": 2}}))
    news = jobs.follow(name, Whose(role="worker"), until=time.monotonic() + 60)
    followed = [each for each in news if isinstance(each, Line)]
    assert jobs.get(name).phase == "Complete"
    found = [json.loads(line.text) for line in jobs.logs(name, Whose(everybody=True))]
    tasks = {(each["task"]["type"], each["task"]["index"]) for each in found}
    assert tasks == {("chief", 0), ("worker", 0), ("worker", 1)}
    assert len({json.dumps(each["cluster"], sort_keys=True) for each in found}) == 1
    of_workers = list(jobs.logs(name, Whose(role="worker")))
    assert sorted(each.pod for each in followed) == sorted(each.pod for each in of_workers)
    told = [json.loads(line.text)["task"] for line in of_workers]
    assert sorted(each["index"] for each in told) == [0, 1]
    assert {each["type"] for each in told} == {"worker"}


def test_workers_of_a_pytorchjob_find_their_master(workshop) -> None:
    role = running("pytorch", "python3", "-c", MEET)
    jobs = workshop.jobs
    name = jobs.create(document("PyTorchJob", {"Master": role, "Worker": {**role, "replicas": 2}}))
    assert jobs.wait(name, timeout=60).phase == "Complete"
    assert [line.text for line in jobs.logs(name)] == ["['1 of 3', '2 of 3']"]


def test_a_permanent_exit_code_of_a_worker_ends_the_job(workshop) -> None:
    worker = {**running("jax", "sh", "-c", "exit 3"), "restartPolicy": "ExitCode"}
    jobs = workshop.jobs
    name = jobs.create(document("JAXJob", {"Worker": worker}))
    with pytest.raises(JobFailed, match="exit code 3"):
        jobs.wait(name, timeout=60)


LACKING = [each for each in ("mpirun", "/usr/sbin/sshd", "ssh-keygen") if shutil.which(each) is None]
with_open_mpi = pytest.mark.skipif(
    bool(LACKING), reason=f"needs {', '.join(LACKING)}: apt-get install openmpi-bin openssh-server"
)


@with_open_mpi
def test_an_mpijob_runs_once_it_is_converted(workshop) -> None:
    program = ["mpirun", "-np", "2", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"]
    roles = {"Launcher": running("mpi", *program), "Worker": {"replicas": 2}}
    made = convert(read_legacy(document("MPIJob", roles)))
    lines = workshop.run(made.runtime, made.train_job, timeout=120)
    assert sorted(lines) == ["rank 0 of 2", "rank 1 of 2"]


@with_open_mpi
def test_open_mpi_reduces_over_the_workers_of_an_mpijob_of_v1(workshop, tmp_path) -> None:
    program = tmp_path / "sum.py"
    program.write_text(ALL_REDUCE)
    roles = {
        "Launcher": running("mpi", "mpirun", "-n", "4", sys.executable, str(program)),
        "Worker": {"replicas": 2},
    }
    lines = workshop.run(document("MPIJob", roles, slotsPerWorker=2), timeout=120)
    said = sorted(line.partition(" on ")[2] for line in lines if line.startswith("rank"))
    assert said == ["job-worker-0-0: 10"] * 2 + ["job-worker-1-0: 10"] * 2
    told = [each.object for each in workshop.jobs.events("job") if each.warning]
    assert told == []  # that a worker sleeps no more when the job is over is no mishap


@with_open_mpi
def test_what_a_launcher_of_v1_started_in_its_workers_ends_with_it(workshop) -> None:
    script = "mpirun -n 2 sh -c 'echo begun; sleep 600' 2>/dev/null"
    roles = {"Launcher": running("mpi", "sh", "-c", script), "Worker": {"replicas": 2}}
    jobs = workshop.jobs
    name = jobs.create(document("MPIJob", roles))
    begun = (news for news in jobs.follow(name) if getattr(news, "text", "") == "begun")
    assert next(begun).container == "mpi"
    jobs.cancel(name)
    with pytest.raises(JobFailed, match="cancelled"):
        jobs.wait(name, timeout=60)
    assert workshop.left_behind() == []


@with_open_mpi
@pytest.mark.parametrize(
    "spec",
    [{"launcherCreationPolicy": "WaitForWorkersReady"}, {"runLauncherAsWorker": True}],
    ids=["a launcher that waits", "a launcher that computes"],
)
def test_open_mpi_reduces_over_the_hosts_of_an_mpijob_of_v2beta1(spec, workshop, tmp_path) -> None:
    program = tmp_path / "sum.py"
    program.write_text(ALL_REDUCE)
    computes = bool(spec.get("runLauncherAsWorker"))
    ranks = 2 * (2 + computes)
    roles = {
        "Launcher": running("mpi", "mpirun", "-n", str(ranks), sys.executable, str(program)),
        "Worker": {"replicas": 2},
    }
    made = legacy_document("MPIJob", roles, version="v2beta1", slotsPerWorker=2, **spec)
    lines = workshop.run({**made, "metadata": {"name": "job"}}, timeout=120)
    hosts = ["job-launcher-0-0"] * 2 * computes + ["job-worker-0-0"] * 2 + ["job-worker-1-0"] * 2
    total = sum(range(1, ranks + 1))
    assert sorted(lines) == [f"rank {rank} on {host}: {total}" for rank, host in enumerate(hosts)]


def test_mpich_reduces_over_the_hosts_of_an_mpijob(workshop, tmp_path) -> None:
    mpiexec = shutil.which("mpiexec.mpich")
    if mpiexec is None or LACKING:
        pytest.skip("needs mpiexec.mpich and sshd: apt-get install mpich openssh-server")
    library = Path(mpiexec).parents[1] / "lib" / "x86_64-linux-gnu" / "libmpich.so.12"
    program = tmp_path / "sum.py"
    program.write_text(ALL_REDUCE_OF_MPICH)
    command = [mpiexec, "-n", "4", sys.executable, str(program), str(library)]
    launcher = running("mpi", *command)
    # hosts that share a machine are taken for one, and their memory cannot be reached from the other
    launcher["pod"]["containers"][0]["env"] = [{"name": "UCX_TLS", "value": "tcp,self"}]
    roles = {"Launcher": launcher, "Worker": {"replicas": 2}}
    made = legacy_document("MPIJob", roles, version="v2beta1", slotsPerWorker=2, mpiImplementation="MPICH")
    lines = workshop.run({**made, "metadata": {"name": "job"}}, timeout=120)
    hosts = ["job-worker-0-0"] * 2 + ["job-worker-1-0"] * 2
    assert sorted(lines) == [f"rank {rank} on {host}: 10" for rank, host in enumerate(hosts)]
