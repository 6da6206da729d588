"""The training report stands alone and says what was odd."""

import re
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.report import oddities, training_report
from kfp_trainer.runtime_operator.workloads.finetune.result import Logged

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
        "settings": FinetuneSettings(model=Path("m<b>"), dataset=Path("data"), output=Path("run")),
    }
    return FinetuneResult.model_validate({**facts, **changes})


ODD = {
    "a run without oddities": ([3.0, 2.0, 1.0], {}, []),
    "a loss that is not a number": ([3.0, NAN, NAN], {}, ["infinite or not a number"]),
    "a loss that did not fall": ([3.0, 3.0], {}, ["did not fall"]),
    "a spike": ([3.0, 1.0, 2.5, 1.0], {}, ["at step 3"]),
    "rows cut off": ([3.0, 1.0], {"truncated_rows": 7}, ["7 of 1,000 rows were longer than 1024 tokens"]),
    "a restart": ([3.0, 1.0], {"resumed_from": 40}, ["went on from step 40"]),
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
    assert "<b>" not in page.replace("&lt;b&gt;", "")
