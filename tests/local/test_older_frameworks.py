"""Real frameworks in jobs of the older kinds, as processes of one machine."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from itertools import groupby

import pytest

from kfp_trainer.runtime_operator.jobs import Whose
from tests.counts import SOAK
from tests.legacy_jobs import legacy_document
from tests.older_programs import (
    ELASTIC_POLICY,
    ELASTIC_START,
    JAX,
    LINE,
    TENSORFLOW,
    XGBOOST,
    elastic_env,
)
from tests.tensorflow_wheel import WHY_NOT, python_with_tensorflow

ONE_THREAD = {"name": "OMP_NUM_THREADS", "value": "1"}


def role(container: str, *command: str, replicas: int = 1, env=(), **given) -> dict:
    """Replicas that run a command."""
    main = {"name": container, "image": "lab.example/train:1", "command": [*command], "env": [*env]}
    return {"replicas": replicas, "pod": {"containers": [main]}, **given}


def said(workshop, kind: str, roles: dict, *, timeout: float = 240, **spec) -> list[str]:
    """What the pods of a job have printed until it had succeeded."""
    document = {**legacy_document(kind, roles, **spec), "metadata": {"name": "job"}}
    name = workshop.jobs.create(document)
    assert workshop.jobs.wait(name, timeout=timeout).phase == "Complete"
    return [line.text for line in workshop.jobs.logs(name, Whose(everybody=True))]


def needs(wheel: str) -> None:
    if find_spec(wheel) is None:
        pytest.skip(f"needs the wheel of {wheel}: pip install {wheel}")


def test_a_master_and_three_workers_train_with_gloo(workshop) -> None:
    train = [sys.executable, "-c", LINE]
    roles = {
        "Master": role("pytorch", *train, env=[ONE_THREAD]),
        "Worker": role("pytorch", *train, replicas=3, env=[ONE_THREAD]),
    }
    lines = sorted(line for line in said(workshop, "PyTorchJob", roles) if line.startswith("rank"))
    assert lines == [f"rank {rank} of 4 has weight 3.00" for rank in range(4)]


@pytest.mark.skipif(not SOAK, reason="under soak: tests/cluster has the same over pods")
def test_an_elastic_job_loses_a_worker_and_regains_it(workshop, tmp_path) -> None:
    start = ["sh", "-c", ELASTIC_START]
    worker = role("pytorch", *start, replicas=3, env=elastic_env(str(tmp_path)), restartPolicy="ExitCode")
    lines = said(workshop, "PyTorchJob", {"Worker": worker}, nprocPerNode="1", elasticPolicy=ELASTIC_POLICY)
    together = [line.removeprefix("together ") for line in lines if line.startswith("together ")]
    assert [count for count, _ in groupby(together)][-3:] == ["3", "2", "3"]


def test_xgboost_trains_with_its_master_as_the_tracker(workshop) -> None:
    needs("xgboost")
    train = [sys.executable, "-c", XGBOOST]
    roles = {"Master": role("xgboost", *train), "Worker": role("xgboost", *train)}
    lines = sorted(line for line in said(workshop, "XGBoostJob", roles) if line.startswith("rank"))
    assert lines == [f"rank {rank} of 2: 5 rounds, right True" for rank in range(2)]


def test_jax_trains_over_two_processes(workshop) -> None:
    needs("jax")
    worker = role("jax", sys.executable, "-c", JAX, replicas=2)
    lines = sorted(line for line in said(workshop, "JAXJob", {"Worker": worker}) if "weight" in line)
    assert lines == [f"process {rank} of 2 has weight 3.00" for rank in range(2)]


@pytest.mark.skipif(not SOAK, reason=WHY_NOT)
def test_two_workers_train_with_tensorflow(workshop, tmp_path) -> None:
    worker = role("tensorflow", python_with_tensorflow(tmp_path / "venv"), "-c", TENSORFLOW, replicas=2)
    lines = said(workshop, "TFJob", {"Worker": worker}, successPolicy="AllWorkers")
    assert sorted(line for line in lines if "has weight" in line) == [
        f"{index} of 2 has weight 3.00" for index in range(2)
    ]


TF_CONFIG = """
import json, os, socket, time
config = json.loads(os.environ["TF_CONFIG"])
mine = config["cluster"][config["task"]["type"]][config["task"]["index"]]
host, _, port = mine.rpartition(":")
reached = {role: [socket.gethostbyname(each.rpartition(":")[0]) for each in found]
           for role, found in config["cluster"].items()}
server = socket.create_server((host, int(port)))  # where the others would look for this one
apart = len({*sum(reached.values(), [])})
print(json.dumps({"task": config["task"], "cluster": config["cluster"], "apart": apart}), flush=True)
open(os.environ["SHARED"] + "/" + host, "w").close()
while len(os.listdir(os.environ["SHARED"])) < apart:  # the job ends with its workers: all are to speak before
    time.sleep(0.05)
"""


def test_every_role_of_a_tfjob_has_its_place_in_one_cluster(workshop, tmp_path) -> None:
    show, shared = [sys.executable, "-c", TF_CONFIG], tmp_path / "shared"
    shared.mkdir()
    env = [{"name": "SHARED", "value": str(shared)}]
    counts = {"Chief": 1, "PS": 2, "Worker": 2, "Evaluator": 1}
    roles = {name: role("tensorflow", *show, replicas=count, env=env) for name, count in counts.items()}
    found = [json.loads(line) for line in said(workshop, "TFJob", roles, successPolicy="AllWorkers")]
    assert len(found) == 6
    assert {(each["task"]["type"], each["task"]["index"]) for each in found} == {
        (name.lower(), index) for name, count in counts.items() for index in range(count)
    }
    assert {json.dumps(each["cluster"], sort_keys=True) for each in found} == {
        json.dumps(found[0]["cluster"], sort_keys=True)
    }
    assert {each["apart"] for each in found} == {6}
