"""The component under kfp's local runner."""

from pathlib import Path

import pytest

from kfp_trainer.components.data_processing.check_dataset import check_dataset
from tests.kfp_local import JobFailed, run_local


def test_refused_rows_end_the_run_with_their_sentence(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("no json\n" * 9)
    arguments = {"dataset_path": str(tmp_path / "rows.jsonl"), "output_path": str(tmp_path / "checked")}
    with pytest.raises(JobFailed, match=r"check-dataset failed: .*not-json"):
        run_local(check_dataset, arguments, tmp_path / "run")
