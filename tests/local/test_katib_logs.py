"""Whole logs of real runs as Katib's StdOut collector reads them: every figure, and nothing that is none.

Katib runs a trial's command through a shell, with both streams in one file, and looks for `name=value`
everywhere in it; what a library says there counts as well.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.forks import fork
from tests.katib import collected
from tests.tiny_base import general_rows, tiny_base, write_rows

SAID = {"step", "of", "loss", "eval_loss", "learning_rate", "tokens_per_second", "remaining_seconds"}
STEPS = 6
# the filter on lines as tools write them, and what it makes of them
VECTORS = {
    "loss=0.5": [("loss", "0.5")],
    "loss = 1e-3": [("loss", "1e-3")],
    "2026-11-20T10:00:00Z epoch=1 loss=-.5E+2": [("epoch", "1"), ("loss", "-.5E+2")],
    "loss: 0.5": [],
    "eval/loss=0.5": [("loss", "0.5")],
    "loss=nan": [("loss", "")],
    "loss=inf": [("loss", "")],
    "Step 60 | loss:1.046": [],
    "val-loss=2": [("val-loss", "2")],
    "exact_match >= base + 0.02: holds with 95% confidence (0.8 against 0.12)": [],
}


@pytest.mark.parametrize("line", VECTORS)
def test_the_filter(line: str) -> None:
    assert collected(line) == VECTORS[line]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_rows(folder / "train.jsonl", general_rows(1, 32))
    write_rows(folder / "eval.jsonl", general_rows(2, 8))
    return folder


RUNS = {
    "trl": ["--eval-every=3"],
    "torchtune": ["--method=full"],
}


@pytest.mark.parametrize("backend", RUNS)
def test_a_log_of_fine_tuning(backend: str, data: Path, tmp_path: Path) -> None:
    if find_spec(backend) is None:
        pytest.skip(f"pip install kfp-trainer[{backend}]")
    often = [f"--max-steps={STEPS}", "--batch-size=8", "--learning-rate=1e-3", "--log-every=1"]
    where = [f"--model={tiny_base()}", f"--dataset={data}", f"--output={tmp_path / 'run'}"]
    run = fork([*where, *often, "--threads=1", f"--backend={backend}", *RUNS[backend]], tmp_path / "log")
    assert run.end() == 0, run.said
    found = collected(run.said)
    assert {name for name, _ in found} <= SAID
    assert all(float(value) == float(value) for _, value in found)
    events = [json.loads(line) for line in (tmp_path / "run" / "progress.jsonl").read_text().splitlines()]
    for name, event in (("loss", "step"), ("eval_loss", "held_out")):
        told = [f"{each[name]:.4f}" for each in events if each["event"] == event]
        assert collected(run.said, name) == [(name, value) for value in told]
    assert len(collected(run.said, "loss")) == STEPS
    assert len(collected(run.said, "eval_loss")) == (2 if backend == "trl" else 0)


def test_a_log_of_an_evaluation(data: Path, tmp_path: Path) -> None:
    """The last line tells the figures, with the names of metrics.json."""
    flags = [f"--model={tiny_base()}", f"--tuned={tiny_base()}", f"--dataset={data}", "--threads=1"]
    more = [f"--output={tmp_path / 'out'}", "--max-new-tokens=16"]
    run = fork([*flags, *more], tmp_path / "log", command="evaluate")
    assert run.end() == 0, run.said
    figures = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert {name: float(value) for name, value in collected(run.said)} == pytest.approx(figures, rel=1e-5)
    assert [name for name, _ in collected(run.said.splitlines()[-1])] == list(figures)
