"""A dataset that is there is checked, and its rows are written as training reads them."""

import json
from pathlib import Path

from kfp_trainer.components.data_processing.check_dataset import check_dataset
from tests.kfp_local import call


def test_settings_of_the_check_are_taken(tmp_path: Path) -> None:
    rows = [{"Frage": f"Was ist {n} und eins?", "Antwort": f"Es ist {n + 1}."} for n in range(30)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = call(
        check_dataset,
        tmp_path,
        dataset_path=str(tmp_path / "rows.jsonl"),
        output_path=str(tmp_path / "checked"),
        settings={"columns": {"prompt": "Frage", "completion": "Antwort"}, "min_rows": 10.0},
    )
    assert told.text("checked_path") == str(tmp_path / "checked/data")
    assert told.facts("checked_dataset")["shape"] == "prompt and completion"
