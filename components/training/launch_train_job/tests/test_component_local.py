"""Two components of one job, under kfp's local runner: one launches it, the other waits."""

from pathlib import Path

import pytest
from kfp import dsl

from kfp_trainer.components.training.launch_train_job import launch_train_job
from kfp_trainer.components.training.wait_train_job import wait_train_job
from tests.kfp_local import JobFailed, run_local


@dsl.pipeline(name="apart")
def apart(words: list):
    launched = launch_train_job(runtime="trl-finetune", arguments=words)
    wait_train_job(job_name=launched.outputs["job_name"])


def test_the_step_that_waits_tells_the_mistake_that_no_second_try_mends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    with pytest.raises(JobFailed, match=r"(?s)^wait-train-job failed: .*epochs: .*greater than 0 \(given"):
        run_local(apart, {"words": ["--model=m", "--dataset=d", "--epochs=-1"]}, tmp_path / "run")
