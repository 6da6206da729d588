"""A launched job goes on when its step has ended; what is wrong with it is said before."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kfp_trainer.components.training.launch_train_job import launch_train_job
from tests.kfp_local import Outputs, call

START = "kfp_trainer.runtime_operator.steps.launch_train_job.start"


def test_a_script_and_a_size_become_a_train_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def start(train_job: dict[str, Any], **_: object) -> SimpleNamespace:
        asked.append(train_job["spec"])
        return SimpleNamespace(name="train-1")

    monkeypatch.setattr(START, start)
    told = call(
        launch_train_job, tmp_path, script="print(1)", job={"nodes": 3.0, "gpus": 1.0}, task_config=None
    )
    assert told.text("job_name") == "train-1"
    assert asked[0]["runtimeRef"] == {"name": "torch-distributed"}
    assert asked[0]["trainer"]["command"] == ["python", "-c", "print(1)"]
    assert asked[0]["trainer"]["numNodes"] == 3


def test_an_unknown_field_of_the_job_is_refused(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, launch_train_job)
    with pytest.raises(SystemExit, match=r"node: is not a setting .* did you mean nodes"):
        launch_train_job.python_func(job={"node": 2}, task_config=None, **outputs.arguments)
