"""The component under kfp's local runner."""

from pathlib import Path

from kfp_trainer.components.evaluation.select_model import select_model
from tests.kfp_local import run_local


def test_lists_come_through(tmp_path: Path) -> None:
    arguments = {"models": ["a", "b"], "evaluations": ["c", "d"], "scores": [0.25, 0.5]}
    run = run_local(select_model, arguments, tmp_path / "run")
    assert (run.outputs["best_path"], run.outputs["best_evaluation"]) == ("b", "d")
