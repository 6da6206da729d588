"""The component under kfp's local runner; tests/local runs a whole training through it."""

from pathlib import Path

import pytest

from kfp_trainer.components.training.finetune_llm import finetune_llm
from tests.kfp_local import JobFailed, run_local


def test_a_mistake_ends_the_run_with_its_sentence(tmp_path: Path) -> None:
    arguments = {"model_path": "/base", "dataset_path": "/rows", "output_path": str(tmp_path / "out")}
    with pytest.raises(JobFailed, match=r"^finetune-llm failed: epochs: .*greater than 0 \(given -1"):
        run_local(finetune_llm, {**arguments, "settings": {"epochs": -1}}, tmp_path / "run")
