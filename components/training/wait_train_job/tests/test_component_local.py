"""The component under kfp's local runner; beside `launch_train_job` it is run behind it."""

from pathlib import Path

import pytest

from kfp_trainer.components.training.wait_train_job import wait_train_job
from tests.kfp_local import JobFailed, run_local


def test_a_job_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    with pytest.raises(JobFailed, match=r"^wait-train-job failed: job none: not found"):
        run_local(wait_train_job, {"job_name": "none"}, tmp_path / "run")
