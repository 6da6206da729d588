"""The component under kfp's local runner."""

from pathlib import Path

import pytest

from kfp_trainer.components.deployment.export_model import export_model
from tests.kfp_local import JobFailed, run_local


def test_what_is_no_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    arguments = {"model_path": str(tmp_path / "none"), "to": str(tmp_path / "kept")}
    with pytest.raises(JobFailed, match=r"export-model failed: model: .*none does not exist"):
        run_local(export_model, arguments, tmp_path / "run")
