"""The training report stands alone and says what was odd."""

import re
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.oddities import oddities
from kfp_trainer.runtime_operator.workloads.finetune.report import training_report
from kfp_trainer.runtime_operator.workloads.finetune.result import Evaluated, Logged

NAN = float("nan")


def result(losses: list[float], **changes: object) -> FinetuneResult:
    facts = {
        "model": Path("run/merged"),
        "adapter": Path("run/adapter"),
        "report": Path("run/training_report.html"),
        "steps": len(losses),
        "resumed_from": 0,
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "rows": 1000,
        "truncated_rows": 0,
        "parameters": 100,
        "trained_parameters": 10,
        "tokens": 500,
        "tokens_per_second": 50.0,
        "processes": 1,
        "device": "cpu",
        "seconds": {"prepare": 1.0, "train": 10.0, "save": 0.5},
        "curve": [Logged(step=step, loss=loss, learning_rate=0.1) for step, loss in enumerate(losses, 1)],
        "digests": {"model": "ab" * 32, "rows": "cd" * 32},
        "versions": {"torch": "2"},
        "held_out": [Evaluated(step=1, loss=2.0), Evaluated(step=2, loss=1.9)],
        "settings": FinetuneSettings(model=Path("m<b>"), dataset=Path("data"), output=Path("run")),
    }
    return FinetuneResult.model_validate({**facts, **changes})


ODD = {
    "a run without oddities": ([3.0, 2.0, 1.0], {}, []),
    "a loss that is not a number": ([3.0, NAN, NAN], {}, ["infinite or not a number"]),
    "a loss that did not fall": ([3.0, 3.0], {}, ["did not fall"]),
    "a spike": ([3.0, 1.0, 2.5, 1.0], {}, ["at step 3"]),
    "rows cut off": (
        [3.0, 1.0],
        {"truncated_rows": 7},
        ["7 of 1,000 rows (1%) were longer than 1024"],
    ),
    "a restart": ([3.0, 1.0], {"resumed_from": 40}, ["went on from step 40"]),
    "a small jump beside nought": ([3.0, 0.01, 0.03], {}, []),
    "many spikes": ([3.0, *[1.0, 2.5] * 8], {}, ["at step 3, 5, 7, 9, 11 and 3 more"]),
    "nobody looked": ([3.0, 1.0], {"held_out": []}, ["No held-out rows were looked at"]),
    "learnt by heart": (
        [3.0, 1.0],
        {"held_out": [Evaluated(step=5, loss=1.5), Evaluated(step=9, loss=1.8)]},
        ["lowest at step 5 (1.500) and rose to 1.800"],
    ),
    "few rows": ([3.0, 1.0], {"rows": 99}, ["only 99 rows"]),
    "rows seen often": ([3.0, 1.0], {"steps": 2000}, ["Each row was seen 32 times"]),
    "padding": ([3.0, 1.0], {"padding_share": 0.5}, ["50% of what was computed was padding"]),
    "checkpoints without room": ([3.0, 1.0], {"failed_checkpoints": 2}, ["2 checkpoints were given up"]),
}


@pytest.mark.parametrize("sentence", ODD)
def test_oddities(sentence: str) -> None:
    losses, changes, expected = ODD[sentence]
    found = oddities(result(losses, **changes))
    assert len(found) == len(expected)
    for text, words in zip(found, expected, strict=True):
        assert words in text


@pytest.mark.parametrize("losses", [[3.0, 2.0], [3.0], [NAN, NAN], [0.0, 0.0]])
def test_the_page_fetches_nothing(losses: list[float]) -> None:
    page = training_report(result(losses))
    assert not re.search(r"https?:|src=|href=|@import|url\(", page)
    assert "m&lt;b&gt;" in page
    assert "m<b>" not in page


def test_the_page_draws_what_was_told() -> None:
    curve = [
        Logged(step=step, loss=1.0, learning_rate=0.1, tokens_per_second=100.0 * step, memory=step << 30)
        for step in (1, 2)
    ]
    page = training_report(
        result(
            [2.0, 1.0],
            curve=curve,
            peak_memory=3 << 30,
            estimated_memory={"weights": 1 << 30},
            seconds={"prepare": 1.0, "train": 6.0, "evaluate": 2.0, "checkpoint": 1.0},
        )
    )
    for words in ("loss on held-out rows", "tokens a second over step", "from 100 to 200", "3.00 GiB"):
        assert words in page
    for words in ("look at held-out rows", "6.0 s, 60%", "write checkpoints", "planned for"):
        assert words in page
