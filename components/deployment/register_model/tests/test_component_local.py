"""The component under kfp's local runner."""

from pathlib import Path

from kfp_trainer.components.deployment.register_model import register_model
from tests.kfp_local import run_local
from tests.servers.model_registry import VERSIONS, ModelRegistry


def test_a_model_is_entered_by_a_step(tmp_path: Path) -> None:
    with ModelRegistry() as registry:
        document = {"address": registry.url, "name": "mine", "version": "1"}
        run = run_local(register_model, {"location": "/models/mine", "registry": document}, tmp_path / "run")
        assert run.outputs["version_id"] == registry.entries[VERSIONS][0]["id"]
