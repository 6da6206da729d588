"""A card says what the run and its inputs say, and that the rest is unknown; hubs can read its head."""

import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.card import add_evaluation, write_cards
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, Sample
from kfp_trainer.runtime_operator.workloads.evaluate.comparison import Estimate, Score
from kfp_trainer.runtime_operator.workloads.files import digest
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings

LIBRARIES = {"torch": "2.15.0", "trl": "1.16.0"}


def run_in(folder: Path, **changes: Any) -> FinetuneResult:
    """A run that ended in `folder`, with the base and the rows beside it."""
    for name in ("base", "rows", "run/merged", "run/adapter"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    settings = {
        "model": folder / "base",
        "dataset": folder / "rows",
        "output": folder / "run",
        "max_steps": 40,
    }
    facts = {
        "model": folder / "run/merged",
        "adapter": folder / "run/adapter",
        "report": folder / "run/training_report.html",
        "steps": 40,
        "resumed_from": 0,
        "first_loss": 3.5,
        "last_loss": 0.25,
        "rows": 1234,
        "truncated_rows": 2,
        "parameters": 1_000_010,
        "trained_parameters": 10,
        "tokens": 5000,
        "tokens_per_second": 50.0,
        "processes": 1,
        "device": "cpu",
        "seconds": {"train": 100.0},
        "curve": [],
        "digests": {"model": "ab" * 32, "rows": "cd" * 32},
        "versions": LIBRARIES,
        "settings": FinetuneSettings.model_validate(settings | changes.pop("settings", {})),
    }
    run = FinetuneResult.model_validate({**facts, **changes})
    (folder / "run/result.json").write_text(run.model_dump_json())
    return run


def evaluation_of(folder: Path, *, base: str = "ab" * 32) -> Evaluation:
    return Evaluation(
        scores=[
            Score(
                name="exact_match",
                rows=60,
                base=Estimate(value=0.05, low=0.0, high=0.1),
                tuned=Estimate(value=0.9, low=0.85, high=0.95),
                difference=Estimate(value=0.85, low=0.8, high=0.9),
            ),
            Score(name="arc/acc", rows=9, base=Estimate(value=0.5), tuned=Estimate(value=0.25)),
        ],
        leading="exact_match",
        rows=60,
        won=51,
        lost=0,
        seconds={},
        device="cpu",
        digests={"model": base},
        versions={},
        report=folder / "evaluation_report.html",
        settings=EvaluateSettings(
            model=str(folder / "base"),
            tuned=str(folder / "run/merged"),
            dataset=folder / "rows",
            output=folder / "out",
        ),
        samples=[Sample(prompt="?", expected="!", base="", base_scores={"exact_match": 0.0})],
    )


def head_of(card: Path) -> dict[str, Any]:
    from huggingface_hub import ModelCard

    data: dict[str, Any] = ModelCard.load(card).data.to_dict()
    return data


def test_each_folder_has_its_own(tmp_path: Path) -> None:
    merged, adapter = write_cards(run_in(tmp_path))
    assert (merged, adapter) == (tmp_path / "run/merged/README.md", tmp_path / "run/adapter/README.md")
    assert head_of(merged)["library_name"] == "transformers"
    assert head_of(adapter)["library_name"] == "peft"
    assert "base, trained with LoRA to give the answers of 1,234 rows of rows" in merged.read_text()
    assert "An adapter for base, trained with LoRA" in adapter.read_text()


def test_a_whole_model_alone_and_an_adapter_alone_have_one(tmp_path: Path) -> None:
    full = run_in(tmp_path, adapter=None, settings={"method": "full"})
    assert write_cards(full) == [tmp_path / "run/merged/README.md"]
    assert "| its weights | 1,000,010 |" in (tmp_path / "run/merged/README.md").read_text()
    alone = run_in(tmp_path, model=tmp_path / "run/adapter", settings={"merge": False})
    assert write_cards(alone) == [tmp_path / "run/adapter/README.md"]


def test_what_nobody_recorded_is_unknown(tmp_path: Path) -> None:
    card = write_cards(run_in(tmp_path))[0]
    text, head = card.read_text(), head_of(card)
    assert head["license"] == "unknown"
    assert not {"base_model", "datasets", "model-index"} & set(head)
    assert text.count("| fetched from | unknown |") == text.count("| licence | unknown |") == 2
    assert "How good it is, is unknown" in text
    assert "- Where the base model comes from" in text
    assert "- The licence of the dataset" in text
    assert "- Whether it is better than its base." in text
    assert str(tmp_path) not in text


def test_the_lineage_is_that_of_the_run(tmp_path: Path) -> None:
    text = write_cards(run_in(tmp_path, warnings=["The loss jumped."]))[0].read_text()
    rows = dict(line.strip("| ").split(" | ", 1) for line in text.splitlines() if line.startswith("| "))
    assert rows["its SHA-256"] == "ab" * 32
    assert rows["SHA-256 of the rows"] == "cd" * 32
    assert rows["its weights"] == "1,000,000"
    assert rows["its rows"] == "1,234 to train on, 2 of them cut off"
    assert rows["loss"] == "3.5000 at first, 0.2500 at last"
    assert rows["`learning_rate`"] == "0.0002"
    assert rows["`max_steps`"] == "40"
    assert rows.items() >= LIBRARIES.items()
    assert "> The loss jumped." in text
    fields = {name for name in FinetuneSettings.model_fields if f"`{name}`" in rows}
    assert fields == set(FinetuneSettings.model_fields) - {"model", "dataset", "output", "push"}


def test_equal_settings_have_equal_digests_wherever_they_run(tmp_path: Path) -> None:
    def digest_of(folder: str, **settings: Any) -> str:
        text = write_cards(run_in(tmp_path / folder, settings=settings))[0].read_text()
        return next(line for line in text.splitlines() if "of the settings" in line)

    assert digest_of("here") == digest_of("there")
    assert digest_of("here") != digest_of("here", seed=8)


def test_a_hub_is_told_what_it_knows(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    file = {"path": "x", "size": 1, "sha256": "0", "mtime_ns": 0, "key": "0", "promised": "", "etag": ""}
    for name, source in (("base", "hf://org/small@main"), ("rows", "hf://datasets/org/rows")):
        facts = {
            "source": source,
            "kind": name,
            "revision": "f00d",
            "digest": "d",
            "bytes": 1,
            "listing": "l",
        }
        more = {"selection": {}, "started": "s", "finished": "f", "left_out": [], "files": [file]}
        manifest = {"format": 1, "tool": "kfp-trainer", **facts, **more}
        (tmp_path / name / "MANIFEST.json").write_text(json.dumps(manifest))
        (tmp_path / name / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    merged, adapter = (head_of(card) for card in write_cards(run))
    assert merged["base_model"] == "org/small"
    assert (merged["base_model_relation"], adapter["base_model_relation"]) == ("finetune", "adapter")
    assert (merged["license"], merged["datasets"]) == ("apache-2.0", ["org/rows"])
    assert (
        "unknown"
        not in (tmp_path / "run/merged/README.md")
        .read_text()
        .split("## What is not known")[0]
        .split("## How to use it")[1]
    )


def test_figures_come_when_it_is_measured(tmp_path: Path) -> None:
    write_cards(run_in(tmp_path))
    cards = add_evaluation(tmp_path / "run/merged", evaluation_of(tmp_path))
    assert cards == [tmp_path / "run/merged/README.md", tmp_path / "run/adapter/README.md"]
    for card in cards:
        assert (
            "| exact_match | 0.05 (0 to 0.1) | 0.9 (0.85 to 0.95) | 0.85 (0.8 to 0.9) |" in card.read_text()
        )
        assert "60 rows of rows" in card.read_text()
        (index,) = head_of(card)["model-index"]
        found = {
            each["metrics"][0]["name"]: (each["dataset"]["name"], each["metrics"][0]["value"])
            for each in index["results"]
        }
        assert found == {"exact_match": ("rows", 0.9), "arc/acc": ("arc", 0.25)}


def test_a_run_that_was_moved_gets_its_figures(tmp_path: Path) -> None:
    run_in(tmp_path)
    (tmp_path / "run").rename(tmp_path / "moved")
    cards = add_evaluation(tmp_path / "moved/adapter", evaluation_of(tmp_path))
    assert cards == [tmp_path / "moved/merged/README.md", tmp_path / "moved/adapter/README.md"]


def test_figures_of_something_else_are_not_written(tmp_path: Path) -> None:
    run_in(tmp_path)
    stray = tmp_path / "elsewhere/merged"
    stray.mkdir(parents=True)
    (tmp_path / "run/other").mkdir()
    assert add_evaluation(stray, evaluation_of(tmp_path)) == []
    assert add_evaluation(tmp_path / "run/other", evaluation_of(tmp_path)) == []
    assert add_evaluation(tmp_path / "run/merged", evaluation_of(tmp_path, base="ef" * 32)) == []
    (tmp_path / "run/result.json").write_text("{}")
    assert add_evaluation(tmp_path / "run/merged", evaluation_of(tmp_path)) == []


def test_a_card_leaves_the_digest_of_its_folder_as_it_was(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    (tmp_path / "run/merged/model.safetensors").write_bytes(b"weights")
    before = digest(run.model)
    write_cards(run)
    assert digest(run.model) == before


@pytest.mark.parametrize("text", ["a | b", "two\nlines"])
def test_no_fact_breaks_the_table(text: str, tmp_path: Path) -> None:
    card = write_cards(run_in(tmp_path, versions={"torch": text}))[0].read_text()
    (line,) = [line for line in card.splitlines() if line.startswith("| torch")]
    assert line in ("| torch | a \\| b |", "| torch | two lines |")
