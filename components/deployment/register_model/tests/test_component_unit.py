"""A model is entered once, through the registry's own client; a version stands for one place."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.components.deployment.register_model import register_model
from tests.kfp_local import Outputs, call
from tests.servers.model_registry import ARTIFACTS, VERSIONS, ModelRegistry

PLACE = "s3://bucket/models/mine"
TOKEN = "canary-7f3a9c5e"


@pytest.fixture
def registry() -> Iterator[ModelRegistry]:
    with ModelRegistry() as registry:
        yield registry


def entry(registry: ModelRegistry, **more: object) -> dict[str, object]:
    return {"address": registry.url, "name": "mine", "version": "1", **more}


def test_a_model_is_entered_with_its_scores(registry: ModelRegistry, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"exact_match": 0.75}))
    told = call(
        register_model, tmp_path, location=PLACE, registry=entry(registry, metadata={"run": "r1"}),
        evaluation_path=str(tmp_path),
    )  # fmt: skip
    version = registry.entries[VERSIONS][0]
    assert told.text("version_id") == version["id"]
    assert version["customProperties"]["exact_match"]["double_value"] == 0.75
    assert version["customProperties"]["run"]["string_value"] == "r1"
    assert registry.entries[ARTIFACTS][0]["uri"] == PLACE
    assert told.facts("registered_model")["location"] == PLACE


def test_who_asks_again_gets_the_same_entry(registry: ModelRegistry, tmp_path: Path) -> None:
    ids = {
        call(register_model, tmp_path, location=PLACE, registry=entry(registry)).text("version_id")
        for _ in range(2)
    }
    assert len(ids) == len(registry.entries[VERSIONS]) == 1


REFUSALS = {
    "a version that is somewhere else": (
        {}, "error: registry.version: 1 of mine is entered already, at s3://bucket/models/mine",
    ),
    "an entry without a version": ({"version": None}, "error: version: .*should be a valid string"),
    "a registry that does not answer": ({"address": "http://127.0.0.1:9"}, "error: registry: .*9: does not"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refused(sentence: str, registry: ModelRegistry, tmp_path: Path) -> None:
    changes, words = REFUSALS[sentence]
    call(register_model, tmp_path, location=PLACE, registry=entry(registry))
    outputs = Outputs(tmp_path, register_model)
    document = entry(registry, **changes)
    with pytest.raises(SystemExit, match=words):
        register_model.python_func(location="s3://else", registry=document, **outputs.arguments)


def test_a_wrong_token_is_told_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL_REGISTRY_TOKEN", TOKEN)
    outputs = Outputs(tmp_path, register_model)
    with ModelRegistry(token="right") as registry, pytest.raises(SystemExit, match="answers 401") as ended:
        register_model.python_func(location=PLACE, registry=entry(registry), **outputs.arguments)
    seen = [str(ended.value), *capsys.readouterr(), str(outputs.facts("registered_model"))]
    assert not any(TOKEN in each for each in seen)
