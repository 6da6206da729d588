"""Real programs of the frameworks across processes of one machine, as they run across pods of a cluster."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.jobs import Whose
from tests.open_mpi import ALL_REDUCE as ALL_REDUCE_BY_MPI

ALL = Whose(everybody=True)
ALL_REDUCE = """
import sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * (dist.get_rank() + 1)
dist.all_reduce(value)
sys.stdout.write(f"rank {dist.get_rank()} of {dist.get_world_size()}: {value.item():.0f}\\n")
dist.destroy_process_group()
"""

# Workers count steps together. The one on node 1 takes its node down, and the other goes on alone.
ELASTIC = """
import os, signal, sys, time, torch, torch.distributed as dist
lost = f"{sys.argv[1]}/lost"
dist.init_process_group("gloo")
again = os.path.exists(lost)
for step in range(1, 4 if again else 1000):
    value = torch.ones(1)
    dist.all_reduce(value)
    if dist.get_rank() == 0:
        sys.stdout.write(f"together {value.item():.0f}\\n")
    if step == 3 and os.environ["JOB_COMPLETION_INDEX"] == "1":
        open(lost, "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
dist.destroy_process_group()
"""

# A trainer with the callback that transformers adds by itself where a TrainJob tells it to report.
CALLBACK = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
size = dict(n_layer=1, n_head=1, n_embd=8, vocab_size=16, n_positions=8)
config = GPT2Config(**size, bos_token_id=0, eos_token_id=0)
rows = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(8)]
options = dict(max_steps=4, report_to="none", use_cpu=True, save_strategy="no", logging_steps=1)
arguments = TrainingArguments("OUT", **options)
Trainer(GPT2LMHeadModel(config), arguments, train_dataset=rows).train()
"""


JAX = """
import os, sys, jax
from jax.experimental.multihost_utils import process_allgather
jax.config.update("jax_cpu_collectives_implementation", "gloo")
names = "COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID"
where, many, which = (os.environ[f"JAX_{name}"] for name in names)
jax.distributed.initialize(where, int(many), int(which))
total = process_allgather(jax.numpy.array([jax.process_index() + 1])).sum()
sys.stdout.write(f"process {jax.process_index()} of {jax.process_count()}: {total}\\n")
"""

# The tracker runs beside the first worker, as the runtime's variables have it.
XGBOOST = """
import os, socket, sys, numpy, xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker
uri, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
rank, workers = int(os.environ["DMLC_TASK_ID"]), int(os.environ["DMLC_NUM_WORKER"])
if rank == 0:
    tracker = RabitTracker(host_ip=socket.gethostbyname(uri), n_workers=workers, port=port, sortby="task")
    tracker.start()
where = dict(dmlc_tracker_uri=uri, dmlc_tracker_port=port, dmlc_task_id=str(rank), dmlc_retry=20)
with collective.CommunicatorContext(**where):
    total = collective.allreduce(numpy.array([rank + 1]), collective.Op.SUM)[0]
    rows = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2) + rank, label=numpy.arange(10) % 2)
    model = xgboost.train({"tree_method": "hist", "objective": "binary:logistic", "nthread": 1}, rows, 3)
    who = f"process {collective.get_rank()} of {collective.get_world_size()}"
    sys.stdout.write(f"{who}: {total}, {model.num_boosted_rounds()}\\n")
"""


@pytest.fixture
def script(tmp_path: Path):
    """Writes a program to a file."""

    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(text.replace("OUT", str(tmp_path / "out")))
        return str(path)

    return write


def test_torchrun_with_gloo_over_two_nodes_of_two_processes(workshop, script) -> None:
    job = workshop.train_job("gloo", f"torchrun {script(ALL_REDUCE)}", nodes=2, trainer={"numProcPerNode": 2})
    workshop.run(workshop.runtime(), job, timeout=240)
    said = sorted(line.text for line in workshop.jobs.logs("gloo", ALL) if "rank" in line.text[:5])
    assert said == [f"rank {rank} of 4: 10" for rank in range(4)]


def test_elastic_torch_loses_a_node_and_goes_on(workshop, script, tmp_path: Path) -> None:
    lines = [
        "unset PET_NNODES PET_NPROC_PER_NODE PET_NODE_RANK",
        f"[ $JOB_COMPLETION_INDEX = 1 ] && [ -e {tmp_path}/lost ] && exit 0  # the node is lost for good",
        "torchrun --nnodes=1:2 --nproc-per-node=1 --max-restarts=3 --rdzv-backend=c10d --rdzv-id=one "
        "--rdzv-conf=join_timeout=60,last_call_timeout=2,keep_alive_interval=1,keep_alive_max_attempt=3 "
        f"--rdzv-endpoint=$PET_MASTER_ADDR:$PET_MASTER_PORT {script(ELASTIC)} {tmp_path}",
    ]
    job = workshop.train_job("elastic", "\n".join(lines), nodes=2)
    said = workshop.run(workshop.runtime(), job, timeout=240)
    together = [line.removeprefix("together ") for line in said if line.startswith("together ")]
    assert [count for count, _ in groupby(together)] == ["2", "1"]


def test_transformers_reports_its_progress_unchanged(workshop, script) -> None:
    job = workshop.train_job("callback", f"{sys.executable} {script(CALLBACK)}")
    workshop.run(workshop.runtime(), job, timeout=240)
    reported = workshop.jobs.get("callback").train_job["status"]["trainerStatus"]
    assert reported["progressPercentage"] == 100
    assert float({each["name"]: each["value"] for each in reported["metrics"]}["loss"]) > 0


def test_open_mpi_over_two_hosts_of_two_slots(workshop, script) -> None:
    lacking = [
        program for program in ("mpirun", "/usr/sbin/sshd", "ssh-keygen") if shutil.which(program) is None
    ]
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}: apt-get install openmpi-bin openssh-server")
    job = workshop.train_job(
        "mpi",
        f"mpirun -n 4 {sys.executable} {script(ALL_REDUCE_BY_MPI)}",
        nodes=2,
        trainer={"numProcPerNode": 2},
    )
    job["spec"]["runtimeRef"]["name"] = "deepspeed-distributed"  # the shipped runtime, with sshd in its nodes
    lines = workshop.run(job, timeout=120)
    hosts = ["mpi-launcher-0-0", "mpi-launcher-0-0", "mpi-node-0-0", "mpi-node-0-0"]
    assert sorted(lines) == [f"rank {rank} on {host}: 10" for rank, host in enumerate(hosts)]


@pytest.mark.parametrize(
    "name, program, more", [("jax", JAX, ""), ("xgboost", XGBOOST, ", 3")], ids=["jax", "xgboost"]
)
def test_the_collectives_of(name: str, program: str, more: str, workshop, script) -> None:
    if find_spec(name) is None:
        pytest.skip(f"needs the wheel of {name}: pip install {name}")
    job = workshop.train_job(name, f"{sys.executable} {script(program)}", nodes=2)
    job["spec"]["runtimeRef"]["name"] = f"{name}-distributed"
    workshop.run(job, timeout=120)
    said = sorted(line.text for line in workshop.jobs.logs(name, ALL) if line.text.startswith("process"))
    assert said == [f"process {rank} of 2: 3{more}" for rank in range(2)]
