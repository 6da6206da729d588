"""The examples run here as their READMEs say, with fewer steps; in full under `make soak`."""

import gzip
import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import torch
import yaml

from kfp_trainer.pipelines.catalogue import load_pipeline
from tests.counts import SOAK
from tests.example_files import BY_PIPELINE, FOLDER, ROOT, documents, local_pipeline, script
from tests.katib import collected
from tests.kfp_local import run_local
from tests.tiny_base import tiny_base, untrained_model

FEWER = {"mnist_ddp": ["--epochs=1"], "jax": ["--steps=200"], "xgboost": ["--trees=10"]}
"""arguments in the place of the example's own"""
WHEELS = {
    "mnist_ddp": ["torch"],
    "jax": ["jax"],
    "xgboost": ["xgboost"],
}
DEEPSPEED = [
    "deepspeed==0.19.8",
    "einops==0.8.2",
    "hjson==3.1.0",
    "mpi4py==4.1.2",
    "msgpack==1.2.4",
    "ninja==1.13.2",
    "py-cpuinfo==9.0.0",
]
"""what its example needs beside torch; kept apart, for transformers behaves otherwise where it is"""
AT_LEAST = {"mnist_ddp": 0.3, "jax": 0.9, "xgboost": 0.85}
"""the accuracy that so few steps must reach; guessing reaches 0.1, 0.5 and 0.6"""
QUICK = {"max_steps": 2, "sequence_length": 128, "threads": 1}
BRIEF = {"metrics": ["exact_match"], "limit": 30, "max_new_tokens": 4, "threads": 1}

# Started by mpirun on each host, with the same Python: its PATH reaches the other host.
WHO_AM_I = """
import os, socket, sys
rank, size = (os.environ[f"OMPI_COMM_WORLD_{name}"] for name in ("RANK", "SIZE"))
sys.stdout.write(f"rank {rank} of {size} on {socket.gethostname()} by {sys.prefix}\\n")
"""


def need(name: str) -> None:
    """Skip where a wheel is missing that this example cannot do without."""
    lacking = [wheel for wheel in WHEELS[name] if find_spec(wheel) is None]
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}: pip install {' '.join(lacking)}")


def need_mpi() -> None:
    """Skip where there is no MPI."""
    programs = ("mpirun", "/usr/sbin/sshd", "ssh-keygen")
    if lacking := [program for program in programs if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(lacking)}: apt-get install openmpi-bin openssh-server")


def with_arguments(name: str, *arguments: str) -> list[dict[str, Any]]:
    """An example's documents, its trainer with these arguments."""
    config, job = documents(name)
    job["spec"]["trainer"]["args"] = list(arguments) or job["spec"]["trainer"]["args"]
    return [config, job]


@pytest.mark.parametrize("name", FEWER)
def test_two_nodes_learn_together(name: str, workshop) -> None:
    need(name)
    lines = workshop.run(*with_arguments(name, *([] if SOAK else FEWER[name])), timeout=600)
    assert "processes=2" in "\n".join(lines)
    scores = [float(value) for _, value in collected("\n".join(lines), "accuracy")]
    assert scores[-1] >= AT_LEAST[name]


def test_mpirun_starts_the_script_on_every_host(workshop) -> None:
    need_mpi()
    config, job = documents("deepspeed_mpi")
    config["data"]["train.py"] = WHO_AM_I
    lines = workshop.run(config, job, timeout=600)
    hosts = ["deepspeed-mpi-launcher-0-0", "deepspeed-mpi-node-0-0"]
    said = [f"rank {rank} of 2 on {host} by {sys.prefix}" for rank, host in enumerate(hosts)]
    assert sorted(line for line in lines if line.startswith("rank")) == said


@pytest.mark.skipif(not SOAK, reason="DeepSpeed is fetched, and compiles at its first use: make soak")
def test_deepspeed_learns_over_mpi(workshop, tmp_path: Path) -> None:
    need_mpi()
    wheels = tmp_path / "wheels"
    install = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(wheels), *DEEPSPEED]
    subprocess.run([sys.executable, "-m", *install], check=True, timeout=600)
    config, job = documents("deepspeed_mpi")
    first = "import deepspeed\n"
    assert first in config["data"]["train.py"]
    there = f"import sys\nsys.path.append({str(wheels)!r})\n"  # mpirun hands no PYTHONPATH on
    config["data"]["train.py"] = config["data"]["train.py"].replace(first, there + first, 1)
    lines = workshop.run(config, job, timeout=600)
    losses = [float(value) for _, value in collected("\n".join(lines), "loss")]
    assert losses[-1] < losses[0] / 2


def test_mnist_is_read_as_it_is_handed_out(tmp_path: Path) -> None:
    images, labels = torch.arange(2 * 784).remainder(256).to(torch.uint8), torch.tensor([3, 8])
    for part, head, content in (("images-idx3", 16, images), ("labels-idx1", 8, labels.to(torch.uint8))):
        raw = bytes(head) + bytes(content.tolist())
        (tmp_path / f"train-{part}-ubyte.gz").write_bytes(gzip.compress(raw))
    program = tmp_path / "train.py"
    program.write_text(script("mnist_ddp"))
    read, told = run_path(str(program))["read_mnist"](tmp_path, "train")
    assert read.shape == (2, 1, 28, 28)
    assert torch.equal(read.flatten() * 255, images.float())
    assert told.tolist() == [3, 8]


@pytest.fixture
def question_rows(tmp_path: Path) -> Path:
    """The rows of question answering, written by its own script."""
    program = FOLDER / "question_answering/make_rows.py"
    subprocess.run([sys.executable, str(program), str(tmp_path / "rows")], check=True)
    return tmp_path / "rows"


def run_verb(folder: Path, *verb: str, **settings: Any) -> None:
    """Run a verb of ours as a process, its settings in a file."""
    file = folder / f"{verb[-1]}.yaml"
    file.write_text(yaml.safe_dump(settings))
    program = "from kfp_trainer.runtime_operator.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", program, *verb, "--settings", str(file)], check=True)


@pytest.mark.parametrize("name", ["lora_own_data", "question_answering"])
def test_the_rows_of_an_example_are_accepted_and_learnt_from(
    name: str, question_rows: Path, tmp_path: Path
) -> None:
    _, said = local_pipeline(name, here=ROOT if name == "lora_own_data" else tmp_path)
    rows = said["dataset"].removeprefix("file://")
    checked, tuned = tmp_path / "checked", tmp_path / "tuned"
    run_verb(
        tmp_path, "dataset", "check", **said.get("dataset_checks", {}), dataset=rows, output=str(checked)
    )
    model = untrained_model(tmp_path / "model")
    places = {"model": str(model), "dataset": str(checked / "data"), "output": str(tuned)}
    run_verb(tmp_path, "finetune", **{**said["training"], **QUICK, **places})
    adapter = json.loads((tuned / "adapter/adapter_config.json").read_text())
    assert adapter["peft_type"] == "LORA"
    assert adapter["r"] == said["training"].get("lora_rank", adapter["r"])
    assert json.loads((tuned / "result.json").read_text())["steps"] == QUICK["max_steps"]


WHOLE = [
    pytest.param(name, marks=() if name == "sweep" else pytest.mark.skipif(not SOAK, reason="make soak"))
    for name in BY_PIPELINE
]


@pytest.mark.parametrize("name", WHOLE)
def test_a_pipeline_runs_as_its_readme_says(
    name: str, question_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    pipeline, said = local_pipeline(name)
    if name == "question_answering":
        said["dataset"] = question_rows.as_uri()
    if "export_to" in said:
        said["export_to"] = str(tmp_path / "kept")
    said["model"] = (tiny_base() if SOAK else untrained_model(tmp_path / "model")).as_uri()
    if not SOAK:
        said |= {"trials": [QUICK], "evaluation": BRIEF, "evaluation_rules": "exact_match >= base"}
    run = run_local(load_pipeline(pipeline), said, tmp_path / "run")
    pages = {each.name for each in run.reports}
    assert {"dataset_report.html", "training_report.html", "evaluation_report.html"} <= pages
    assert (tmp_path / "kept/model.safetensors").is_file() == ("export_to" in said)
