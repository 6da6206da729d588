"""What the command says when it cannot serve."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.cli.main import run

REFUSED: dict[str, tuple[list[str], int, str]] = {
    "a gate that is unknown": (
        ["--feature-gates=Other=true"],
        2,
        "--feature-gates: there is no gate 'Other'",
    ),
    "a kubeconfig that is not there": (["--kubeconfig=nowhere"], 3, "nowhere"),
    "progress for one namespace": (
        ["--namespace=team", "--feature-gates=TrainJobStatus=true"],
        2,
        "leave out --namespace or the gate",
    ),
    "an older kind that is unknown": (
        ["--older-kinds=PytorchJobs"],
        2,
        "--older-kinds: there is no kind 'PytorchJobs'; name some of TFJob, PyTorchJob",
    ),
    "a port that is none": (["--health-port=70000"], 2, "70000 is not in the range"),
}


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """The logs of this process, as they were afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_says_why(
    sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, code, words = REFUSED[sentence]
    assert run(["operator", *arguments]) == code
    assert words in capsys.readouterr().err
