"""The component under kfp's local runner."""

from pathlib import Path

import pytest

from kfp_trainer.components.evaluation.gate_model import gate_model
from tests.evaluations import write_evaluation
from tests.kfp_local import JobFailed, run_local


def test_a_stopped_model_ends_the_run(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "evaluation", base=80, tuned=10)
    arguments = {"model_path": "m", "evaluation_path": str(tmp_path / "evaluation")}
    with pytest.raises(JobFailed, match=r"^gate-model failed: the model does not pass: exact_match > base"):
        run_local(gate_model, {**arguments, "rules": "exact_match > base"}, tmp_path / "run")
