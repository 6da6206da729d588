import json

import pytest
import yaml

from kfp_trainer.runtime_operator.cli.output import print_data

SHARED = {"a": ["x"]}
CASES = {
    "one document": {"kind": "Pod", "n": 1},
    "several documents": [{"kind": "Pod"}, {"kind": "Job"}],
    "shared parts are written out": [{"kind": "Pod", "x": SHARED}, {"x": SHARED, "y": SHARED}],
    "letters of any language stay readable": {"name": "Übung 训练"},
}  # fmt: skip


@pytest.mark.parametrize("sentence", CASES)
def test_yaml_reads_back(sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_data(CASES[sentence], "yaml")
    text = capsys.readouterr().out
    documents = list(yaml.safe_load_all(text))
    assert (documents if isinstance(CASES[sentence], list) else documents[0]) == CASES[sentence]
    assert "&id" not in text and "\\u" not in text


@pytest.mark.parametrize("sentence", CASES)
def test_json_reads_back(sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_data(CASES[sentence], "json")
    assert json.loads(capsys.readouterr().out) == CASES[sentence]
