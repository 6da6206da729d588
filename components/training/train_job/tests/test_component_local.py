"""The component runs alone, as a process of this machine."""

from pathlib import Path

import pytest
from kfp import local

from ..component import train_job

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def runner(tmp_path, monkeypatch):
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path / "home"))
    local.init(
        local.SubprocessRunner(use_venv=False),
        raise_on_error=True,
        pipeline_root=str(tmp_path / "root"),
        workspace_root=str(tmp_path / "workspace"),
    )


def test_a_script_is_run_and_told_of():
    task = train_job(script="import sys; print('trained', sys.argv[1:])", arguments=["--epochs=2"])
    assert task.outputs["job_name"].startswith("train-job-")
    assert "completed" in Path(task.outputs["summary"].path).read_text()
