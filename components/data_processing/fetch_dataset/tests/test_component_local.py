"""The component under kfp's local runner."""

from pathlib import Path

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from tests.kfp_local import run_local


def test_the_demonstration_rows_need_no_network(tmp_path: Path) -> None:
    arguments = {"source": "demo://messages", "output_path": str(tmp_path / "rows"), "checks": {}}
    run = run_local(fetch_dataset, arguments, tmp_path / "run")
    assert Path(run.outputs["dataset_path"], "train.jsonl").is_file()
