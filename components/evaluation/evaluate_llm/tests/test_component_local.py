"""The component under kfp's local runner; tests/local runs it on a model, behind a training."""

from pathlib import Path

import pytest

from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from tests.kfp_local import JobFailed, run_local


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    arguments = {"model_path": str(tmp_path / "none"), "dataset_path": str(tmp_path), "output_path": "out"}
    with pytest.raises(JobFailed, match=r"evaluate-llm failed: .*none"):
        run_local(evaluate_llm, arguments, tmp_path / "run")
