"""What an evaluation found is shown as a page, as numbers and as a table."""

from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation
from tests.evaluations import write_evaluation
from tests.kfp_local import Outputs, call


def test_everything_found_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[EvaluateSettings] = []

    def measure(settings: EvaluateSettings) -> Evaluation:
        asked.append(settings)
        return write_evaluation(settings.output, base=10, tuned=80)

    monkeypatch.setattr("kfp_trainer.runtime_operator.workloads.evaluate.evaluate", measure)
    told = call(
        evaluate_llm, tmp_path, model_path="/base", tuned_path="/tuned", dataset_path="/rows",
        output_path=str(tmp_path / "evaluation"), settings={"limit": 20.0, "metrics": ["exact_match"]},
    )  # fmt: skip
    assert (asked[0].model, asked[0].tuned, asked[0].limit) == ("/base", "/tuned", 20)
    assert told.text("score") == "0.8"
    assert told.text("evaluation_path") == str(tmp_path / "evaluation")
    assert "the report" in told.text("evaluation_report")
    assert "| exact_match | 0.1 (" in told.text("summary")
    assert told.facts("evaluation_metrics")["exact_match_gain"] == pytest.approx(0.7)


def test_no_rows_and_no_tasks_are_refused(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, evaluate_llm)
    arguments: dict[str, Any] = {"model_path": "/base", "dataset_path": "", "output_path": str(tmp_path)}
    with pytest.raises(SystemExit, match="dataset: give held-out rows"):
        evaluate_llm.python_func(**arguments, **outputs.arguments)
    assert "give held-out rows" in outputs.text("summary")
    assert outputs.text("score") == "0.0"
