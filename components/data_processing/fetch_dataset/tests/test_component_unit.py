"""A dataset arrives with its origin told; bad rows end the step with their own sentence."""

import json
from pathlib import Path

import pytest

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from tests.kfp_local import Outputs, call

ROWS = [{"prompt": f"What is {n} and one?", "completion": f"It is {n + 1}."} for n in range(40)]


def write(folder: Path, rows: list[dict[str, str]]) -> str:
    folder.mkdir()
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder.as_uri()


def test_rows_arrive_checked_and_with_their_origin(tmp_path: Path) -> None:
    source = write(tmp_path / "source", ROWS)
    told = call(fetch_dataset, tmp_path, source=source, output_path=str(tmp_path / "rows"), checks={})
    folder = Path(told.text("dataset_path"))
    assert {each.name for each in folder.glob("*.jsonl")} == {"train.jsonl", "eval.jsonl"}
    facts = told.facts("dataset")
    assert (facts["path"], facts["source"], facts["rows"]) == (str(folder), source, 40)
    assert facts["digest"].startswith("sha256:")
    assert told.facts("check_metrics")["rows"] == 40
    assert "prompt and completion" in told.text("check_report")


def test_without_checks_the_files_stay_as_they_came(tmp_path: Path) -> None:
    source = write(tmp_path / "source", ROWS)
    told = call(fetch_dataset, tmp_path, source=source, output_path=str(tmp_path / "rows"))
    assert Path(told.text("dataset_path")) == tmp_path / "rows"
    assert "Not asked for" in told.text("check_report")


def test_bad_rows_end_the_step_and_stand_in_the_report(tmp_path: Path) -> None:
    source = write(tmp_path / "source", [*ROWS, {"prompt": "What now?", "completion": ""}])
    outputs = Outputs(tmp_path, fetch_dataset)
    arguments = {"source": source, "output_path": str(tmp_path / "rows"), "checks": {}}
    with pytest.raises(SystemExit, match=r"error: train.jsonl: row 41: completion"):
        fetch_dataset.python_func(**arguments, **outputs.arguments)
    assert outputs.text("dataset_path") == ""
    assert "row 41" in outputs.text("check_report")
