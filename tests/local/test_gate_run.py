"""The gate on real models: one that was trained on shuffled answers is stopped, an unchanged one passes.

Every judgement is of other held-out rows, so that chance has its say in each. Of a model that is as good as
its base and not the same, rows decide with an allowance only; the same answers need none.
"""

import random
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, evaluate
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.gate import GateResult, GateSettings, judge
from kfp_trainer.runtime_operator.workloads.models import load_model, load_tokenizer
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from tests.counts import count
from tests.tiny_base import general_rows, tiny_base, write_rows

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
TIMES, PLANTS, ROWS = count(100, sampled=20), count(10, sampled=2), 60
ALLOWED = "exact_match >= base - 10 %; perplexity <= 1.05 * base"
SAME = "exact_match >= base; perplexity <= base; chrf >= base"


@pytest.fixture(scope="module")
def base() -> Path:
    return tiny_base()


@pytest.fixture(scope="module")
def planted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Models that were trained a little on answers to other questions, each time others."""
    found = []
    for seed in range(PLANTS):
        place = tmp_path_factory.mktemp("planted")
        rows = general_rows(1000 + seed, 128)
        answers = [row["completion"] for row in rows]
        random.Random(seed).shuffle(answers)
        shuffled = [{**row, "completion": answer} for row, answer in zip(rows, answers, strict=True)]
        write_rows(place / "data" / "train.jsonl", shuffled)
        given = {"model": base, "dataset": place / "data", "output": place / "run", "threads": 1}
        more = {"max_steps": 30, "batch_size": 8, "learning_rate": 3e-3, "seed": seed, "log_every": 15}
        found.append(finetune(FinetuneSettings.model_validate({**given, **more})).model)
    return found


@pytest.fixture(scope="module")
def rounded(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base in numbers of 16 bits: as good, and not the same."""
    import torch

    folder = tmp_path_factory.mktemp("rounded") / "model"
    load_model(base).to(torch.bfloat16).save_pretrained(folder)
    load_tokenizer(base).save_pretrained(folder)
    return folder


def gate(base: Path, tuned: Path, place: Path, *, draw: int, rules: str) -> GateResult:
    """Judge a model by held-out rows that no other draw has."""
    asked = [row for row in general_rows(5000 + draw, 2 * ROWS) if not row["prompt"].startswith("Repeat")]
    rows = write_rows(place / f"{draw}.jsonl", asked[:ROWS])
    models = {"model": str(base), "tuned": str(tuned), "dataset": rows, "output": place / str(draw)}
    how = {"threads": 1, "max_new_tokens": 16, "batch_size": ROWS, "seed": draw, "resamples": 1000}
    evaluate(parse_settings(EvaluateSettings, {**models, **how}))
    return judge(parse_settings(GateSettings, {"evaluation": place / str(draw), "rules": rules}))


def test_a_planted_regression_is_stopped(base: Path, planted: list[Path], tmp_path: Path) -> None:
    results = [
        gate(base, planted[draw % PLANTS], tmp_path, draw=draw, rules=ALLOWED) for draw in range(TIMES)
    ]
    assert [result.passed for result in results] == [False] * TIMES
    assert [result.sentences for result in results if "is broken" not in result.sentences] == []


def test_an_unchanged_model_passes(base: Path, rounded: Path, tmp_path: Path) -> None:
    """By turns the very base, by the strictest rules, and the rounded one, with an allowance."""
    results = []
    for draw in range(TIMES):
        tuned, rules = (base, SAME) if draw % 2 else (rounded, ALLOWED)
        results.append(gate(base, tuned, tmp_path, draw=draw, rules=rules))
    assert [result.sentences for result in results if not result.passed] == []
    figures = {judgement.value for result in results for judgement in result.judgements}
    assert len(figures) > TIMES  # the rows were others each time


def test_the_same_seed_gives_the_same_judgement(base: Path, planted: list[Path], tmp_path: Path) -> None:
    one, two = (
        gate(base, planted[0], tmp_path / name, draw=3, rules=ALLOWED).judgements for name in ("one", "two")
    )
    assert one == two
