"""A model arrives as it was, with its origin told."""

import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.components.data_processing.fetch_model import fetch_model
from tests.kfp_local import Outputs, call


def a_model(folder: Path) -> str:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    return folder.as_uri()


def test_a_model_arrives_without_its_pickles(tmp_path: Path) -> None:
    source = a_model(tmp_path / "source")
    told = call(fetch_model, tmp_path, source=source, output_path=str(tmp_path / "model"))
    folder = Path(told.text("model_path"))
    assert sorted(each.name for each in folder.iterdir() if not each.name.startswith((".", "MANIFEST"))) == [
        "config.json",
        "model.safetensors",
    ]
    facts = told.facts("model")
    assert (facts["path"], facts["source"], facts["bytes"]) == (str(folder), source, 30)


def test_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, fetch_model)
    arguments = {"source": "demo://model", "output_path": str(tmp_path), "settings": {"inclde": ["*"]}}
    with pytest.raises(SystemExit, match=r"error: inclde: is not a setting .* did you mean include"):
        fetch_model.python_func(**{**arguments, "source": "file:///nowhere"}, **outputs.arguments)
    assert outputs.text("model_path") == ""


LATER: dict[str, tuple[dict[str, Any], str]] = {
    "an address that takes no model": ({"export_to": "s4://bucket"}, r"export_to: .*s4"),
    "an entry without a version": (
        {"registry": {"address": "http://registry", "name": "mine"}}, r"version: is missing",
    ),
    "a rule that cannot be read": ({"rules": "chrf >= base; exact_match => base"}, r"rules.1: cannot"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", LATER)
def test_what_comes_at_the_end_of_a_run_is_tried_before_anything_is_fetched(
    sentence: str, tmp_path: Path
) -> None:
    given, words = LATER[sentence]
    outputs = Outputs(tmp_path, fetch_model)
    source = a_model(tmp_path / "source")
    with pytest.raises(SystemExit, match=words):
        fetch_model.python_func(
            source=source, output_path=str(tmp_path / "model"), **given, **outputs.arguments
        )
    assert not (tmp_path / "model").exists()
