"""A model goes to where it lasts and is entered there; without an address it stays."""

from pathlib import Path

import pytest

from kfp_trainer.components.deployment.export_model import export_model
from tests.kfp_local import Outputs, call
from tests.servers.model_registry import ARTIFACTS, ModelRegistry


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_a_model_is_exported_and_entered_where_it_is(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "kept"
    with ModelRegistry() as registry:
        document = {"address": registry.url, "name": "mine", "version": "1"}
        told = call(export_model, tmp_path, model_path=str(model), to=str(target), registry=document)
        assert registry.entries[ARTIFACTS][0]["uri"] == told.text("location")
    assert (target / "model.safetensors").read_bytes() == b"weights"
    facts = told.facts("exported_model")
    assert (facts["location"], facts["version"]) == (told.text("location"), "1")
    assert "digest" in facts


def test_without_an_address_it_stays(model: Path, tmp_path: Path) -> None:
    told = call(export_model, tmp_path, model_path=str(model), to="")
    assert told.text("location") == str(model)
    assert told.facts("exported_model")["path"] == str(model)


def test_a_wrong_entry_is_refused_before_anything_is_sent(model: Path, tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, export_model)
    arguments = {"model_path": str(model), "to": str(tmp_path / "kept"), "registry": {"nme": "mine"}}
    with pytest.raises(SystemExit, match="nme: is not a setting"):
        export_model.python_func(**arguments, **outputs.arguments)
    assert not (tmp_path / "kept").exists()
