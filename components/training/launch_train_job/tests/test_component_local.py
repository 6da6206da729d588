"""Two components of one job, under kfp's local runner: one launches it, the other waits."""

from pathlib import Path

import pytest
from kfp import dsl

from kfp_trainer.components.training.launch_train_job import launch_train_job
from kfp_trainer.components.training.wait_train_job import wait_train_job
from tests.counts import SOAK
from tests.kfp_local import JobFailed, run_local


@dsl.pipeline(name="apart")
def apart(words: list):
    launched = launch_train_job(
        runtime="torch-distributed", command=["python", "-c", "import sys; sys.exit(sys.argv[1])"],
        arguments=words,
    )  # fmt: skip
    wait_train_job(job_name=launched.outputs["job_name"])


@pytest.mark.skipif(not SOAK, reason="the Job of torch-distributed tries again for five minutes: make soak")
def test_the_step_that_waits_tells_how_the_job_died(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    with pytest.raises(JobFailed, match=r"(?s)^wait-train-job failed: .*no such thing"):
        run_local(apart, {"words": ["no such thing"]}, tmp_path / "run")
