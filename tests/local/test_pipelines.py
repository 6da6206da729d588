"""Whole pipelines on this machine: fetched, tuned, evaluated, gated, and nobody's secret left lying about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.pipelines.evaluate_only import evaluate_only
from kfp_trainer.pipelines.finetune_llm import finetune_llm
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.kfp_local import JobFailed, LocalRun, run_local
from tests.servers.site import Site
from tests.tiny_base import untrained_model

CANARY = "canary-3fb0c2d9e8"
TRAINING = {"max_steps": 12, "learning_rate": 5e-3, "sequence_length": 128, "batch_size": 8, "threads": 1}
EVALUATION = {"limit": 30, "threads": 1, "max_new_tokens": 8}
BETTER = "perplexity <= base"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of its own, with a model that knows nothing."""
    here = tmp_path_factory.mktemp("pipelines")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KFP_TRAINER_HOME", str(here / "home"))
        patch.setenv("ACCESS_TOKEN", CANARY)
        untrained_model(here / "model")
        yield here


@pytest.fixture(scope="module")
def run(place: Path) -> LocalRun:
    """One fine-tuning from addresses to an exported model, its data behind a token."""
    data = make_demo_data(place / "data")
    files = {each.name: each.read_bytes() for each in data.iterdir()}
    with Site(files, token=CANARY) as site:
        return run_local(
            finetune_llm,
            {
                "dataset": site.url,
                "model": (place / "model").as_uri(),
                "training": TRAINING,
                "evaluation": EVALUATION,
                "evaluation_rules": BETTER,
                "export_to": str(place / "kept"),
            },
            place / "run",
        )


def test_a_model_is_tuned_measured_and_kept(run: LocalRun, place: Path) -> None:
    result = json.loads((run.folder / "workspace/tuned/result.json").read_text())
    assert result["steps"] == 12
    assert result["last_loss"] < result["first_loss"]
    assert (place / "kept/model.safetensors").is_file()


def test_every_report_is_left(run: LocalRun) -> None:
    reports = {"dataset_report.html", "training_report.html", "evaluation_report.html"}
    assert {each.name for each in run.reports} == reports
    pages = {"check_report", "training_report", "evaluation_report", "summary", "verdict"}
    left = {each.name for each in run.folder.glob("artifacts/*/*/*") if each.stat().st_size > 60}
    assert pages <= left


def test_artifacts_tell_their_lineage(run: LocalRun) -> None:
    told = {}
    for file in run.folder.glob("artifacts/*/*/executor_output.json"):
        for name, each in json.loads(file.read_text()).get("artifacts", {}).items():
            told[name] = each["artifacts"][0]["metadata"]
    tuned, kept = told["tuned_model"], told["exported_model"]
    assert tuned["base_digest"].startswith("sha256:") and tuned["rows_digest"].startswith("sha256:")
    assert tuned["settings"]["max_steps"] == 12
    assert told["dataset"]["source"].startswith("http://127.0.0.1")
    assert kept["digest"].startswith("sha256:")


def test_a_secret_is_nowhere(run: LocalRun, place: Path) -> None:
    files = [each for root in ("run", "home", "kept") for each in (place / root).rglob("*") if each.is_file()]
    assert len(files) > 40
    assert [str(each) for each in files if CANARY.encode() in each.read_bytes()] == []


def test_a_planted_regression_stops_at_the_gate(
    run: LocalRun, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {
        "dataset": (place / "data").as_uri(),
        "model": (run.folder / "workspace/tuned/merged").as_uri(),
        "model_tuned": (place / "model").as_uri(),
        "evaluation": EVALUATION,
        "evaluation_rules": BETTER,
    }
    with pytest.raises(
        JobFailed, match=r"^gate-model failed: the model does not pass: perplexity <= base: is"
    ):
        run_local(evaluate_only, arguments, place / "regression")
    assert list(place.glob("regression/workspace/evaluation/evaluation_report.html"))
    assert "── delete-train-jobs" in capsys.readouterr().out


def test_a_step_that_fails_ends_the_run_with_its_own_sentence(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = place / "broken"
    rows.mkdir()
    (rows / "train.jsonl").write_text('{"prompt": "Hello?", "completion": ""}\n' * 8)
    arguments = {"dataset": rows.as_uri(), "model": (place / "model").as_uri()}
    with pytest.raises(JobFailed, match=r"^fetch-dataset failed: train.jsonl: row 1: completion is empty"):
        run_local(finetune_llm, arguments, place / "failure")
    shown = capsys.readouterr().out
    assert "── delete-train-jobs" in shown and "── finetune-llm" not in shown
