"""A mounted Secret becomes variables of the process; what is set already stays."""

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.steps.credentials import take_credentials


def test_files_become_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = {"ONE_TOKEN": "one\n", "TWO_TOKEN": "two", "not a name": "x", "..data": "y"}
    for name, text in secret.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("TWO_TOKEN", "set before")
    environment = {"TWO_TOKEN": "set before"}
    monkeypatch.setattr("os.environ", environment)
    assert take_credentials(tmp_path) == ["ONE_TOKEN"]
    assert environment == {"ONE_TOKEN": "one", "TWO_TOKEN": "set before"}


def test_nothing_is_mounted(tmp_path: Path) -> None:
    assert take_credentials(tmp_path / "none") == []
