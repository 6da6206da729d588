"""What a job has come to is shown."""

from pathlib import Path

import pytest

from kfp_trainer.components.training.wait_train_job import wait_train_job
from kfp_trainer.runtime_operator.launch import Launched
from tests.kfp_local import call


def test_a_job_that_ended_well_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Launched("train-1", "team", "all done", {"loss": 0.5}, {"running": 60.0})
    monkeypatch.setattr("kfp_trainer.runtime_operator.steps.wait_train_job.wait_for", lambda name: ended)
    told = call(wait_train_job, tmp_path, job_name="train-1")
    assert "all done" in told.text("summary") and "| seconds running | 60 |" in told.text("summary")
    assert told.facts("training_metrics")["loss"] == 0.5
    assert told.facts("training_metrics")["train_job"] == "team/train-1"
