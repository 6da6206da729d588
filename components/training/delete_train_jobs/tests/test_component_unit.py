"""At the end of a run nothing of it trains on, and a bad end is told."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs

STATES = {"COMPLETE": "", "FAILED": "ended as FAILED; 2", "RUNNING": "ended as RUNNING; 2"}


@pytest.mark.parametrize("state", STATES)
def test_what_is_left_is_deleted(
    state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = "kfp_trainer.runtime_operator.steps.delete_train_jobs.clean_up"
    monkeypatch.setattr(step, lambda: ["one", "two"])
    delete_train_jobs.python_func(status=SimpleNamespace(state=state))
    assert STATES[state] in capsys.readouterr().out


def test_outside_of_a_run_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match="error: run: is not known"):
        delete_train_jobs.python_func(status=SimpleNamespace(state="COMPLETE"))
