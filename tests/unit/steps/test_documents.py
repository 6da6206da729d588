"""Numbers that protobuf made floats are whole again; `{task}` is this execution's own folder."""

import json
import sys
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.steps.documents import document, own_folder, plain

PLAIN = {
    "a whole number": (200.0, 200),
    "a fraction": (0.5, 0.5),
    "deep inside": ({"a": [{"b": 2.0}]}, {"a": [{"b": 2}]}),
    "text that looks like a number": ("2.0", "2.0"),
    "a truth": (True, True),
    "nothing": (None, None),
}
RUN = "/minio/mlpipeline/v2/artifacts/mine/3f8e/finetune-llm"


@pytest.mark.parametrize("sentence", PLAIN)
def test_plain(sentence: str) -> None:
    given, want = PLAIN[sentence]
    found = plain(given)
    assert found == want and type(found) is type(want)


def test_what_the_component_decides_counts_more() -> None:
    assert document({"model": "theirs", "epochs": 2.0}, model="ours") == {"model": "ours", "epochs": 2}
    assert document(None, model="ours") == {"model": "ours"}


def folder_of(monkeypatch: pytest.MonkeyPatch, execution: str) -> Path:
    told = {"outputs": {"outputFile": f"{RUN}/{execution}/output_metadata.json"}}
    monkeypatch.setattr(sys, "argv", ["executor", "--executor_input", json.dumps(told)])
    return own_folder("/ws/trials/{task}")


def test_an_execution_finds_its_folder_again_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = "6f1e7a2c-0001-4000-8000-000000000000", "6f1e7a2c-0002-4000-8000-000000000000"
    first, again, second = (folder_of(monkeypatch, each) for each in (one, one, other))
    assert first == again != second
    assert first.parent == Path("/ws/trials") and first.name.startswith("finetune-llm-")


def test_a_folder_without_a_task_is_taken_as_it_is() -> None:
    assert own_folder("/ws/tuned") == Path("/ws/tuned")
