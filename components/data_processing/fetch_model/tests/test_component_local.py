"""The component under kfp's local runner."""

from pathlib import Path

import pytest

from kfp_trainer.components.data_processing.fetch_model import fetch_model
from tests.kfp_local import JobFailed, run_local


def test_what_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    arguments = {"source": (tmp_path / "none").as_uri(), "output_path": str(tmp_path / "model")}
    with pytest.raises(JobFailed, match=r"fetch-model failed: .*none"):
        run_local(fetch_model, arguments, tmp_path / "run")
