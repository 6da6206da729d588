"""The component as the exit handler of a pipeline, under kfp's local runner."""

from pathlib import Path

import pytest
from kfp import dsl

from kfp_trainer.components.evaluation.gate_model import gate_model
from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from tests.kfp_local import JobFailed, run_local


@dsl.pipeline(name="ends-badly")
def ends_badly(folder: str):
    with dsl.ExitHandler(delete_train_jobs()):
        gate_model(model_path=folder, evaluation_path=folder, rules="exact_match >= base")


def test_it_runs_behind_a_failure_which_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    with pytest.raises(JobFailed, match=r"gate-model failed: .*cannot be read"):
        run_local(ends_badly, {"folder": str(tmp_path)}, tmp_path / "run")
    shown = capsys.readouterr().out
    assert shown.index("── gate-model") < shown.index("── delete-train-jobs") < shown.index("ended as FAILED")
