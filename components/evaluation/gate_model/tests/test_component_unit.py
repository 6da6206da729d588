"""A model that is better goes through; a planted regression ends the run, with a sentence a rule."""

from pathlib import Path

import pytest

from kfp_trainer.components.evaluation.gate_model import gate_model
from tests.evaluations import write_evaluation
from tests.kfp_local import Outputs, call

RULE = "exact_match >= base + 0.02"


def test_a_better_model_goes_through(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "evaluation", base=10, tuned=80)
    told = call(
        gate_model, tmp_path, model_path="/models/tuned", evaluation_path=str(tmp_path / "evaluation"),
        rules=RULE,
    )  # fmt: skip
    assert told.text("passed_path") == "/models/tuned"
    assert f"- {RULE}: holds" in told.text("verdict")


def test_a_planted_regression_is_stopped(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "evaluation", base=80, tuned=10)
    outputs = Outputs(tmp_path, gate_model)
    arguments = {"model_path": "/models/tuned", "evaluation_path": str(tmp_path / "evaluation")}
    with pytest.raises(SystemExit, match=r"error: the model does not pass: exact_match .* is broken"):
        gate_model.python_func(**arguments, rules=RULE, **outputs.arguments)
    assert outputs.text("passed_path") == ""
    assert "is broken" in outputs.text("verdict")


def test_settings_of_the_gate_are_taken(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "evaluation", base=50, tuned=53)
    told = call(
        gate_model, tmp_path, model_path="m", evaluation_path=str(tmp_path / "evaluation"), rules=RULE,
        settings={"judge_by": "value"},
    )  # fmt: skip
    assert told.text("passed_path") == "m"
